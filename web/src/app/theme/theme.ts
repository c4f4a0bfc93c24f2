import { createTheme } from "@mantine/core";

export const theme = createTheme({
  primaryColor: "cyan",
  primaryShade: { light: 9, dark: 7 },
  defaultRadius: "md",
  cursorType: "pointer",
  respectReducedMotion: true,
});
