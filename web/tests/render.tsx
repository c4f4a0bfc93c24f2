import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { type RenderResult, render } from "@testing-library/react";
import type { ReactElement, ReactNode } from "react";
import { MemoryRouter } from "react-router";
import { startI18n } from "@/shared/i18n";

startI18n();

interface Around {
  children: ReactNode;
  /** The address in the app. */
  at?: string;
}

export function Surroundings({ children, at = "/" }: Around) {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  return (
    <MantineProvider withCssVariables={false} withGlobalClasses={false}>
      <QueryClientProvider client={client}>
        <MemoryRouter initialEntries={[at]}>{children}</MemoryRouter>
      </QueryClientProvider>
    </MantineProvider>
  );
}

/** Renders with everything that components find around them in the app. */
export function show(element: ReactElement, at?: string): RenderResult {
  return render(element, {
    wrapper: ({ children }) => <Surroundings at={at}>{children}</Surroundings>,
  });
}
