import type { Metadata, Viewport } from 'next'
import { headers } from 'next/headers'
import type { ReactNode } from 'react'
import '@fontsource-variable/inter/wght.css'
import '@fontsource-variable/jetbrains-mono/wght.css'
import './globals.css'
import { Providers } from './providers.tsx'

export const metadata: Metadata = {
  description: 'Every token of an agent rollout: its loss mask, its logprob, its alternatives.',
  referrer: 'no-referrer',
}

export const viewport: Viewport = {
  colorScheme: 'light dark',
  themeColor: [
    { media: '(prefers-color-scheme: light)', color: '#ffffff' },
    { media: '(prefers-color-scheme: dark)', color: '#0b0b0e' },
  ],
}

/** The document around every page. */
export default async function RootLayout({ children }: { readonly children: ReactNode }) {
  // The nonce of the content security policy differs for every request, so no page may be rendered in advance.
  await headers()
  return (
    <html lang="en">
      <body>
        <Providers>{children}</Providers>
      </body>
    </html>
  )
}
