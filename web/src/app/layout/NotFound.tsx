import { Button } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { EmptyState } from "@/shared/ui/States";

export function NotFound() {
  const { t } = useTranslation();
  return (
    <EmptyState title={t("app.notFound")} hint={t("app.notFoundHint")}>
      <Button component={Link} to="/" variant="light">
        {t("app.goHome")}
      </Button>
    </EmptyState>
  );
}
