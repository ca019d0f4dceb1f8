import { headers } from 'next/headers'
import type { ReactNode } from 'react'

/** The document of the bare page, which is rendered for each request, as the application's pages are. */
export default async function BareLayout({ children }: { readonly children: ReactNode }) {
  await headers()
  return (
    <html lang="en">
      <body>{children}</body>
    </html>
  )
}
