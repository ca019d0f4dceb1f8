import type { Metadata } from 'next'
import { TemplatesScreen } from '#components/templates/screen.tsx'

export const metadata: Metadata = { title: 'Templates' }

/** The page /templates: the template lab. */
export default function TemplatesPage() {
  return <TemplatesScreen />
}
