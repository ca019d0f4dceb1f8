import { notFound } from 'next/navigation'
import { DocText } from '#components/docs/doc-text.tsx'
import { DocsScreen } from '#components/docs/screen.tsx'
import { readDoc } from '../doc-files.ts'

type DocsPageProps = Readonly<{ params: Promise<{ readonly page?: readonly string[] }> }>

/** The page /docs/NAME; 404 if there is no such document. */
export default async function DocsPage({ params }: DocsPageProps) {
  const doc = await readDoc((await params).page ?? [])
  if (!doc) notFound()
  return (
    <DocsScreen shown={doc.name}>
      <DocText {...doc} />
    </DocsScreen>
  )
}
