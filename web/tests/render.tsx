import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { type RenderResult, render } from "@testing-library/react";
import type { ReactElement, ReactNode } from "react";
import { MemoryRouter } from "react-router";
import { startI18n } from "@/shared/i18n";

startI18n();

export function Surroundings({ children }: { children: ReactNode }) {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  return (
    <MantineProvider withCssVariables={false} withGlobalClasses={false}>
      <QueryClientProvider client={client}>
        <MemoryRouter>{children}</MemoryRouter>
      </QueryClientProvider>
    </MantineProvider>
  );
}

/** Renders with everything that components find around them in the app. */
export function show(element: ReactElement): RenderResult {
  return render(element, { wrapper: Surroundings });
}
