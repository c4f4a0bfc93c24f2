import { memo, useMemo } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { markdownBlocks } from "@/shared/lib/markdownBlocks";
import { CodeBlock } from "./CodeBlock";
import { SafeImage } from "./SafeImage";
import { SafeLink } from "./SafeLink";

const PLUGINS = [remarkGfm];

interface Props {
  text: string;
  /** More text is coming: code is not coloured yet. */
  live?: boolean;
}

/**
 * Markdown from pages, tools and models. HTML in it is shown as text; links and images go
 * through `SafeLink` and `SafeImage`, so addresses need no second filter here.
 */
export const Markdown = memo(function Markdown({ text, live = false }: Props) {
  const blocks = useMemo(() => markdownBlocks(text), [text]);
  return (
    <div className="prose">
      {blocks.map((block, index) => (
        <Block key={index} text={block} live={live && index === blocks.length - 1} />
      ))}
    </div>
  );
});

const Block = memo(function Block({ text, live }: { text: string; live: boolean }) {
  return (
    <ReactMarkdown
      remarkPlugins={PLUGINS}
      urlTransform={keep}
      components={live ? LIVE_COMPONENTS : COMPONENTS}
    >
      {text}
    </ReactMarkdown>
  );
});

const keep = (url: string) => url;

const COMPONENTS: Components = componentsFor(false);
const LIVE_COMPONENTS: Components = componentsFor(true);

function componentsFor(live: boolean): Components {
  return {
    a: ({ href, children }) => <SafeLink href={href}>{children}</SafeLink>,
    img: ({ src, alt, title }) => (
      <SafeImage src={typeof src === "string" ? src : null} alt={alt} title={title} />
    ),
    table: ({ children }) => (
      <div className="table-scroll" role="group" tabIndex={0}>
        <table>{children}</table>
      </div>
    ),
    pre: ({ node }) => {
      const code = node?.children[0];
      if (code?.type !== "element") return null;
      const text = code.children.map((child) => (child.type === "text" ? child.value : "")).join("");
      const names = code.properties["className"];
      const language = Array.isArray(names) ? String(names[0]).replace(/^language-/, "") : null;
      return <CodeBlock code={text.replace(/\n$/, "")} language={language} plain={live} />;
    },
  };
}
