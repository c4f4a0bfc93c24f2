import { useTranslation } from "react-i18next";
import { classifyLink, ownImage } from "@/shared/lib/links";

interface Props {
  id?: string;
  src: string | null | undefined;
  alt?: string | null | undefined;
  title?: string | null | undefined;
  /** Pixels. */
  width?: number | undefined;
}

/** An image of our own origin; any other is named, never fetched. */
export function SafeImage({ id, src, alt, title, width }: Props) {
  const { t } = useTranslation();
  const own = ownImage(src, window.location.origin);
  if (own !== null) {
    return (
      <img
        id={id}
        src={own}
        alt={alt ?? ""}
        title={title ?? undefined}
        width={width}
        loading="lazy"
      />
    );
  }
  const link = classifyLink(src, window.location.origin);
  const note =
    link.kind === "external" ? t("page.imageBlocked", { host: link.host }) : t("page.imageMissing");
  return (
    <span id={id} className="image-blocked">
      {alt ? `${alt} · ` : ""}
      {note}
    </span>
  );
}
