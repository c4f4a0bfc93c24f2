import { Button, Skeleton } from "@mantine/core";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { ApiError } from "@/shared/api/errors";
import { AlertIcon } from "./icons";

interface EmptyProps {
  icon?: ReactNode;
  title: string;
  hint?: string | undefined;
  children?: ReactNode;
}

export function EmptyState({ icon, title, hint, children }: EmptyProps) {
  return (
    <div className="empty-state">
      {icon ? <div className="empty-icon">{icon}</div> : null}
      <h2>{title}</h2>
      {hint ? <p>{hint}</p> : null}
      {children}
    </div>
  );
}

interface ErrorProps {
  error: unknown;
  onRetry?: (() => void) | undefined;
}

export function ErrorState({ error, onRetry }: ErrorProps) {
  const { t } = useTranslation();
  const network = error instanceof ApiError && error.code === "network";
  // What cannot be an id is refused with 422: for a reader it is an address with nothing there.
  const missing = error instanceof ApiError && [404, 422].includes(error.status);
  const title = network ? t("app.offline") : missing ? t("app.notFound") : t("app.error");
  const hint = missing ? t("app.notFoundHint") : messageOf(error);
  return (
    <div role="alert">
      <EmptyState icon={<AlertIcon size={32} />} title={title} hint={network ? undefined : hint}>
        {onRetry && !missing ? (
          <Button variant="light" onClick={onRetry}>
            {t("app.retry")}
          </Button>
        ) : null}
      </EmptyState>
    </div>
  );
}

export function messageOf(error: unknown): string | undefined {
  return error instanceof Error ? error.message : undefined;
}

/** Grey lines where text will be. */
export function TextSkeleton({ lines = 4 }: { lines?: number }) {
  const { t } = useTranslation();
  return (
    <div role="status" aria-label={t("app.loading")} className="text-skeleton">
      {Array.from({ length: lines }, (_, line) => (
        <Skeleton key={line} height={14} radius="sm" width={`${90 - ((line * 17) % 40)}%`} />
      ))}
    </div>
  );
}
