import { CorpusScreen } from '#components/compare/corpus/screen.tsx'

/** The page /compare/corpus: the drift of all samples in files. */
export default function CorpusPage() {
  return <CorpusScreen />
}
