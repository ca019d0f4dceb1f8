import type { Metadata, Viewport } from 'next'
import { headers } from 'next/headers'
import type { ReactNode } from 'react'
import { preload } from 'react-dom'
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

/** The fonts of nearly all texts. Preloaded, they are there for the first paint, and texts do not move when another font replaces theirs. */
const FONTS = [
  new URL('@fontsource-variable/inter/files/inter-latin-wght-normal.woff2', import.meta.url),
  new URL('@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2', import.meta.url),
]

/** The document around every page. */
export default async function RootLayout({ children }: { readonly children: ReactNode }) {
  // The nonce of the content security policy differs for every request, so no page may be rendered in advance.
  await headers()
  for (const { pathname } of FONTS) preload(pathname, { as: 'font', type: 'font/woff2', crossOrigin: 'anonymous' })
  return (
    <html lang="en">
      <body>
        <Providers>{children}</Providers>
      </body>
    </html>
  )
}
