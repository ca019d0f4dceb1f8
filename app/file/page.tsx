import type { Metadata } from 'next'
import { FileScreen } from '#components/file/screen.tsx'

/** Title of the browser’s tab. */
export const metadata: Metadata = { title: 'Samples of a file' }

/** The page /file: the samples of a large file that was opened in the browser and is not stored. */
export default function FilePage() {
  return <FileScreen />
}
