import { FileRowScreen } from '#components/file/row-screen.tsx'

/** The page /file/ROW: one sample of the file that /file lists. */
export default async function FileRowPage({ params }: { readonly params: Promise<{ row: string }> }) {
  return <FileRowScreen row={Number((await params).row)} />
}
