const PHONE = "(max-width: 760px)"; // as in layout.css, where the chat then covers the page

/** Whether there is room for one thing at a time. */
export const onPhone = () => window.matchMedia(PHONE).matches;
