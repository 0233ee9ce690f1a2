/** Where the page begins. */
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { router } from "./app/router.tsx";
import { ZoneProvider } from "./app/zone.tsx";
import "./ui/tokens.css";

const root = document.querySelector("#root");
if (!root) throw new Error("the page has no #root");
createRoot(root).render(
  <StrictMode>
    <ZoneProvider>
      <RouterProvider router={router} />
    </ZoneProvider>
  </StrictMode>,
);
