// A request that is refused: thrown anywhere, answered in the API's own shape of an error.
export class Refused extends Error {
  constructor(status, error, message, { details, retryAfter } = {}) {
    super(message);
    Object.assign(this, { status, error, details, retryAfter });
  }
}

export function refuse(status, error, message, more) {
  throw new Refused(status, error, message, more);
}
