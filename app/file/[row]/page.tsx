import type { Metadata } from 'next'
import { FileRowScreen } from '#components/file/row-screen.tsx'

/** Title of the browser’s tab. */
export const metadata: Metadata = { title: 'Trajectory' }

/** The page /file/ROW: one sample of the file that /file lists. */
export default async function FileRowPage({ params }: { readonly params: Promise<{ row: string }> }) {
  return <FileRowScreen row={Number((await params).row)} />
}
