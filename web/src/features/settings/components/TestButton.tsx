import { Alert, Button } from "@mantine/core";
import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import { messageOf } from "@/shared/ui/States";
import { useNames } from "../names";
import { useTestSettings } from "../queries/settings";
import type { TestBody, TestResult } from "../types";

/** Tries the connection as it stands in the form, saved or not. */
export function TestButton({ body }: { body: TestBody }) {
  const { t } = useTranslation();
  const test = useTestSettings();
  // A result says nothing about what has been changed since.
  const current = JSON.stringify(test.variables) === JSON.stringify(body);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (test.isSuccess || test.isError) place.current?.scrollIntoView({ block: "nearest" });
  }, [test.isSuccess, test.isError, test.submittedAt]);
  return (
    <div ref={place} className="stack test-result" aria-live="polite">
      <Button
        className="fit"
        size="compact-sm"
        variant="light"
        loading={test.isPending}
        onClick={() => test.mutate(body)}
      >
        {t("settings.test")}
      </Button>
      {current && test.data ? <Result result={test.data} /> : null}
      {current && test.isError ? (
        <Alert color="red" title={t("settings.testNotMade")}>
          {messageOf(test.error)}
        </Alert>
      ) : null}
    </div>
  );
}

function Result({ result }: { result: TestResult }) {
  const { t } = useTranslation();
  const names = useNames();
  if (result.ok) {
    const { timeMs: ms, dimensions } = result;
    return (
      <Alert color="teal" title={t("settings.testOk")}>
        {dimensions ? t("settings.testDimensions", { ms, dimensions }) : t("settings.testTime", { ms })}
      </Alert>
    );
  }
  const { title, advice } = names.failure(result.error.code);
  return (
    <Alert color="red" title={title}>
      <p>{advice}</p>
      <p className="test-words">
        {result.error.message} <span className="muted">({result.error.code})</span>
      </p>
    </Alert>
  );
}
