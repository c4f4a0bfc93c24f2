"""Every size, limit and fixed duration, with its unit and its reason.

Durations that tests must shorten are in `settings.py` instead.
"""

DB_POOL_SIZE = 16  # connections a process: four processes stay far below PostgreSQL's 100
DB_POOL_WAIT_SECONDS = 10.0  # then an error, rather than a request that hangs
STATEMENT_TIMEOUT_MS = 30_000  # no statement of ours takes a second; a runaway ends

MAX_BODY_BYTES = 8 * 1024 * 1024  # a document of 2 MB as JSON, with room
MAX_PROMPT_CHARS = 200_000  # one user message; more belongs in a page
MAX_TITLE_CHARS = 255
MAX_DOCUMENT_BYTES = 4 * 1024 * 1024  # serialised ProseMirror JSON
MAX_DOCUMENT_DEPTH = 100  # prosemirror's own recursion fails near 200
DOCUMENT_OFFLOAD_BYTES = 64 * 1024  # larger documents are checked off the event loop

PAGE_LIMIT_DEFAULT = 20  # rows a list answers with
PAGE_LIMIT_MAX = 100

SIGN_IN_PER_MINUTE = 10  # an address and an account
SESSION_DAYS = 30  # a session's life without use

EVENT_FLUSH_SECONDS = 0.02  # deltas are gathered this long at most; the first never waits
EVENT_STREAM_MAXLEN = 20_000  # entries a turn's stream keeps; older steps come from PostgreSQL
READER_QUEUE_SIZE = 1_000  # messages a slow reader may lag before it is dropped
STREAM_POLL_SECONDS = 1.0  # covers a lost publish, and ends a stream whose session ended

TURN_MAX_ATTEMPTS = 3  # then the turn fails, visibly
TENANT_MAX_STEPS = 8  # model calls a turn; then one last call without tools
TOOL_SECONDS = 60.0  # one tool call

CHUNK_CHARS = 1_000
CHUNK_OVERLAP_CHARS = 200
EMBED_BATCH = 16  # chunks a call: bounds memory, keeps progress visible
SEARCH_VECTOR_WAIT_SECONDS = 0.3  # then the answer is by text only, and says so
RRF_K = 60  # reciprocal rank fusion constant (Cormack, Clarke, Büttcher 2009)
SNIPPET_CHARS = 300
RPC_ROW_SECONDS = 60  # a sealed request row's life

CHAT_TITLE_CHARS = 60  # the title made from the first message until a better one exists
REAPER_BATCH = 100  # turns a sweep looks at: a sweep stays short
REQUEUE_PAUSE_MAX_SECONDS = 300.0  # the longest wait before a queued turn is enqueued again
TREE_TOOL_MAX_PAGES = 500  # pages in one tree that the agent reads: some 20 kB of result
TOOL_RESULT_CHARS = 60_000  # a result's JSON; a longer one is cut and says so
OFFLINE_PAGES = 3  # pages that the offline answerer reads for a question
OFFLINE_QUOTES = 3  # passages it quotes of the best page, fewer of the others
OFFLINE_QUOTE_SHARE = 0.6  # of the best passage's shared words that another one needs
OFFLINE_QUOTE_CHARS = 400  # a longer sentence is cut
OFFLINE_WORDS_PER_PIECE = 4  # words in one streamed piece
EVENT_RETRY_SECONDS = 0.25  # between attempts to send events while Redis is away

EMBED_MAX_TOKENS = 256  # what all-MiniLM-L6-v2 was trained to read; the rest is cut
EMBED_RUN = 4  # texts in one run of a local model: 16 took 820 MB and were no faster, 4 take 380
EMBED_SECONDS = 120.0  # one batch; a hung model must not hold a page for ever
ALIVE_BEAT_SECONDS = 3.0  # between a worker's signs of life
ALIVE_SECONDS = 10.0  # a worker silent for longer counts as missing
FOLLOW_INDEX_SECONDS = 10.0  # between looks for pages whose index lags
SWEEP_EXPIRED_SECONDS = 60.0  # between removals of expired rows
INDEX_RERUNS = 5  # readings of a page that changes while it is embedded; then the next task
INDEX_PAUSE_SECONDS = 20.0  # before an unindexed page is enqueued again; doubles each time
INDEX_SWEEP_BATCH = 500  # pages that a sweep of the index looks at

MAX_URL_CHARS = 2_048  # a link or an image address; browsers and proxies agree on about this
MAX_HOST_CHARS = 253  # RFC 1035, without the dot at the end
MAX_LABEL_CHARS = 1_000  # an alt text, a link's title, a mention's label
MAX_MARKDOWN_CHARS = 1_000_000  # read in 1.6 s as prose, in 20 s at worst
MAX_FRONT_MATTER_CHARS = 16_384  # YAML is parsed in Python, about 100 kB a second
MAX_QUERY_CHARS = 1_000  # of a search; the rest of a longer text is not read
MAX_QUERY_WORDS = 24  # of a search: bounds the work of one query
MAX_CLIENT_ID_CHARS = 200  # an id that a client made up: a nanoid or a UUID, with room

STORE_START_SECONDS = 60.0  # a store that replays its log after a crash may need most of it
STORE_STOP_SECONDS = 30.0  # PostgreSQL's fast shutdown writes a checkpoint
CHILD_END_SECONDS = 10.0  # between asking a leftover to end and killing it
WAIT_STEP_SECONDS = 0.02  # between two looks at a condition that is waited for
STORE_START_ATTEMPTS = 3  # another program may take the port between our look and the bind
STORE_CONNECT_SECONDS = 5  # to a server on this machine
API_GRACE_SECONDS = 5  # requests and open streams that end by themselves when the API stops
MIGRATE_LOCK_SECONDS = 120  # a second migration waits for the first
HOME_LOCK_SECONDS = 0.5  # `pageturn status` holds the lock for an instant to look at it
LOG_FILE_BYTES = 10_000_000  # a process's log; one older part of this size is kept
RESTART_PAUSE_SECONDS = 0.2  # before what died is started again; doubles each time
RESTART_PAUSE_MAX_SECONDS = 5.0  # a process that cannot start must not eat the machine
SETTLED_SECONDS = 10.0  # a process that lived for this long died for a new reason
TEND_SECONDS = 0.1  # between two looks at the processes
READY_SECONDS = 60.0  # from the start of the processes until all of them serve
READY_PROBE_SECONDS = 3.0  # one look at /readyz
WORKER_END_SECONDS = 5.0  # beyond a worker's own grace period, for handing over and closing
API_END_SECONDS = API_GRACE_SECONDS + 3.0  # then it is killed; nothing depends on its end

MIN_SECRET_BYTES = 32  # of APP_SECRET: as much as the keys that come of it
MIN_PASSWORD_CHARS = 8
MAX_PASSWORD_CHARS = 1_000  # argon2 reads it all
PASSWORD_THREADS = 2  # a hash takes 64 MB and 40 ms: bounds memory under a flood of sign-ins
TOKEN_DAYS = 365  # an access token's outermost life; its session usually ends before
SESSION_TOUCH_SECONDS = 600  # a session's last use is written at most this often
SIGN_IN_LINK_HOURS = 24
MAX_LINK_TOKEN_CHARS = 200  # a sign-in link carries 43
MAX_EMAIL_CHARS = 254  # RFC 5321
MAX_NAME_CHARS = 100  # a person's or a space's
MAX_USER_AGENT_CHARS = 400  # kept of a session's browser
MAX_SPACE_SLUG_TRIES = 1_000  # wiki, wiki-2, wiki-3, …
MAX_PAGE_DEPTH = 64  # levels of pages under pages; bounds every recursive query
SLUG_ID_CHARS = 10  # 36^10 pages before two are likely to meet
TITLE_SLUG_CHARS = 60  # the readable part of a page's address
MAX_SYSTEM_PROMPT_CHARS = 20_000
MAX_MODEL_NAME_CHARS = 200
READY_CHECK_SECONDS = 2.0  # one store's answer to /readyz
MAX_ERROR_DETAILS = 20  # faults of one request that are told
COMMAND_POOL_SIZE = 4  # connections of one command at the shell
RESTORE_LOCK_SECONDS = 30  # for tables that somebody else still uses
SEARCH_LIMIT_DEFAULT = 10  # hits of a search
SEARCH_LIMIT_MAX = 50
SEARCH_DEPTH = 200  # ranks taken from words and from vectors before they are fused
SEARCH_RANKED_PAGES = 3_000  # pages ranked by words: those with the rarest terms come first
SNIPPET_TEXT_CHARS = 20_000  # of a page's text, looked through when it has no chunk yet
HNSW_EF_SEARCH = 200  # candidates of a vector scan: as many as SEARCH_DEPTH
VECTOR_MIN_SIMILARITY = 0.25  # cosine; unrelated texts stay below it with all-MiniLM-L6-v2
MAX_CURSOR_CHARS = 2_000  # a title or a name with an id, encoded
MAX_IMPORT_FILE_BYTES = 2 * 1024 * 1024  # one Markdown file; as a document it grows
INDEX_WAIT_SECONDS = 60.0  # without progress, then waiting for the index ends and says so
TRACEBACK_FRAMES = 12  # of an exception's stack in a log line: the innermost tell most
REQUEST_SECONDS = 20.0  # until an answer begins; a frozen database must not hold a browser
GIVE_BACK_PAUSE_SECONDS = 0.2  # between tries to give a turn back while the database is away
CANCEL_AGAIN_SECONDS = 0.05  # until a task that swallowed a cancellation gets another
MAX_BRANCH_MESSAGES = 10_000  # messages from a chat's first to its last: bounds the recursion
CHAT_SENDS_PER_MINUTE = 25  # a person; more is a program, which has the API for that
HTTP_CONNECTIONS = 200  # of one client to the outside: as many as a process holds turns
HTTP_IDLE_SECONDS = 15.0  # an unused connection to the outside is kept
MAX_EDITS = 100  # text edits in one call
MAX_EDIT_CHARS = 200_000  # of all of them: some 50,000 tokens, more than a model says at once
MAX_EDIT_REPLACEMENTS = 10_000  # of one edit: bounds its work
EDIT_BREAK_BYTES = 48  # what a line break adds to a document: a node, and a text cut in two
EDIT_SHOWN_CHARS = 80  # of an edit's text told back: a hundred of them fit into a result
EDIT_HINT_CHARS = 2_000  # a longer text that is absent is not searched for in other forms
