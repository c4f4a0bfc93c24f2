-- Words of a text in every supported language: accents folded, stemmed as Russian for
-- Cyrillic words and as English for ASCII words, and unstemmed beside that. Wrapped as
-- IMMUTABLE because generated columns require it; the dictionaries are fixed by the extension.
-- A slash parts words: the parser would take "leave/absence" for a path, one word.
CREATE FUNCTION pageturn_fold(value text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
    RETURN translate(public.unaccent('public.unaccent'::regdictionary, value), '/', ' ');

CREATE FUNCTION pageturn_tsv(value text) RETURNS tsvector
    LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
    RETURN to_tsvector('pg_catalog.simple'::regconfig, public.pageturn_fold(value))
        || to_tsvector('pg_catalog.russian'::regconfig, public.pageturn_fold(value));

-- Title before body. A tsvector holds at most 1 MB; the chunks cover what lies beyond.
CREATE FUNCTION pageturn_page_tsv(title text, body text) RETURNS tsvector
    LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
    RETURN setweight(public.pageturn_tsv(title), 'A')
        || setweight(public.pageturn_tsv(left(body, 200000)), 'B');
