import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { type Token, MAX_HIGHLIGHT_CHARS, highlight } from "@/shared/lib/highlight";
import { CopyButton } from "./CopyButton";

interface Props {
  id?: string;
  code: string;
  language?: string | null | undefined;
  /** While text still streams in, colouring would run again for every chunk. */
  plain?: boolean;
}

export function CodeBlock({ id, code, language, plain = false }: Props) {
  const { t } = useTranslation();
  const tokens = useTokens(code, plain ? null : (language ?? null));
  return (
    <div className="code-block" id={id}>
      <div className="code-head">
        <span>{language ?? ""}</span>
        <CopyButton text={code} label={t("app.copy")} />
      </div>
      <pre>
        <code>
          {tokens === null
            ? code
            : tokens.map((token, index) => (
                <span key={index} className={token.className ?? undefined}>
                  {token.text}
                </span>
              ))}
        </code>
      </pre>
    </div>
  );
}

function useTokens(code: string, language: string | null): Token[] | null {
  const [coloured, setColoured] = useState<{ code: string; tokens: Token[] | null } | null>(null);
  useEffect(() => {
    if (language === null || code.length > MAX_HIGHLIGHT_CHARS) return;
    let current = true;
    highlight(code, language).then(
      (tokens) => current && setColoured({ code, tokens }),
      () => {},
    );
    return () => {
      current = false;
    };
  }, [code, language]);
  return coloured?.code === code ? coloured.tokens : null;
}
