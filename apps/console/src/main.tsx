/** Where the page begins. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { router } from "./app/router.tsx";
import { applyTheme, readTheme } from "./app/theme.ts";
import { ZoneProvider } from "./app/zone.tsx";
import "./ui/tokens.css";

const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // Events say what is stale; a clock does not. The client has tried again already.
      staleTime: Infinity,
      retry: false,
      // Whether there is a network is learnt by asking.
      networkMode: "always",
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
    },
    mutations: { networkMode: "always" },
  },
});

applyTheme(readTheme());
const root = document.querySelector("#root");
if (!root) throw new Error("the page has no #root");
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <ZoneProvider>
        <RouterProvider router={router} />
      </ZoneProvider>
    </QueryClientProvider>
  </StrictMode>,
);
