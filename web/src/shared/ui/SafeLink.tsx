import type { ReactNode } from "react";
import { Link } from "react-router";
import { classifyLink } from "@/shared/lib/links";

interface Props {
  href: string | null | undefined;
  children: ReactNode;
}

/** A link out of someone's text: inside the app without a reload, outside with its host shown. */
export function SafeLink({ href, children }: Props) {
  const link = classifyLink(href, window.location.origin);
  switch (link.kind) {
    case "internal":
      return <Link to={link.to}>{children}</Link>;
    case "hash":
      return <Link to={link.hash}>{children}</Link>;
    case "mail":
      return <a href={link.href}>{children}</a>;
    case "external":
      return (
        <a href={link.href} target="_blank" rel="noopener noreferrer nofollow" title={link.href}>
          {children}
          {textOf(children).includes(link.host) ? null : (
            <span className="link-host"> ({link.host})</span>
          )}
        </a>
      );
    case "unsafe":
      return <span className="link-dead">{children}</span>;
  }
}

function textOf(children: ReactNode): string {
  if (typeof children === "string") return children;
  return Array.isArray(children) ? children.map(textOf).join("") : "";
}
