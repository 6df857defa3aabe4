import './theme/mantine.ts';
import './theme/tokens.css';
import './theme/base.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queries } from './api/client.ts';
import { router } from './app/router.tsx';
import { Toasts } from './parts/toast.tsx';
import { colorSchemes } from './theme/color-schemes.ts';
import { theme } from './theme/theme.ts';

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no element "root"');

createRoot(root).render(
  <StrictMode>
    {/* Styles are files: the policy of the page forbids style tags. */}
    <MantineProvider theme={theme} withCssVariables={false} withGlobalClasses={false} colorSchemeManager={colorSchemes} defaultColorScheme="auto">
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
        <Toasts />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
