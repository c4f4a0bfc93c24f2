import { Markdown } from "@/shared/ui/Markdown";
import type { Segment } from "../lib/foldParts";
import { Reasoning } from "./Reasoning";
import { ToolCard } from "./ToolCard";

export function AnswerSegment({ segment }: { segment: Segment }) {
  switch (segment.kind) {
    case "text":
      return <Markdown text={segment.text} live={segment.live} />;
    case "reasoning":
      return <Reasoning text={segment.text} live={segment.live} />;
    case "tools":
      return (
        <ul className="tools">
          {segment.tools.map((tool) => (
            <ToolCard key={tool.id} tool={tool} />
          ))}
        </ul>
      );
  }
}
