import { FileScreen } from '#components/file/screen.tsx'

/** The page /file: the samples of a large file that was opened in the browser and is not stored. */
export default function FilePage() {
  return <FileScreen />
}
