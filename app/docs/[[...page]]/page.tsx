/** The documentation page. It reads the files that came with this copy of the application and needs no network. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { notFound } from 'next/navigation'
import { docName } from '#components/docs/doc-pages.ts'
import { DocText } from '#components/docs/doc-text.tsx'
import { DocsScreen } from '#components/docs/screen.tsx'

interface DocsPageProps {
  readonly params: Promise<{ readonly page?: readonly string[] }>
}

/** The page /docs/NAME; 404 if there is no such document. */
export default async function DocsPage({ params }: DocsPageProps) {
  const { page = [] } = await params
  const name = docName(page)
  const text = name === undefined ? undefined : await textOf(name)
  if (name === undefined || text === undefined) notFound()
  return (
    <DocsScreen shown={name}>
      <DocText name={name} text={text} />
    </DocsScreen>
  )
}

async function textOf(name: string): Promise<string | undefined> {
  try {
    return await readFile(path.join(process.cwd(), 'docs', `${name}.md`), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
