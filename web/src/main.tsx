import "./app/theme/mantine";
import "./app/theme/base.css";
import "./app/theme/layout.css";
import "./app/theme/page.css";
import "./app/theme/prose.css";
import "./app/theme/chat.css";
import "./app/theme/answer.css";
import "./app/theme/history.css";
import "./app/theme/settings.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/App";
import { startI18n } from "./shared/i18n";

startI18n();
const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no #root");
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
