import { Button } from '../../ui/button.tsx'
import { FilesButton } from '../../ui/file-button.tsx'

interface CorpusStartProps {
  readonly onFiles: (files: readonly File[]) => void
  readonly onLibrary: () => void
}

/** Introduction with buttons, shown before a source is chosen. */
export const CorpusStart = ({ onFiles, onLibrary }: CorpusStartProps) => (
  <div className="mx-auto grid max-w-[62ch] justify-items-start gap-3 p-6 sm:pt-16">
    <h2 className="font-semibold text-base">How much would your samples drift?</h2>
    <p className="text-dim">
      Every trajectory is compared with the tokens of a pipeline that keeps text or messages instead of token ids. The
      report counts how often the tokens differ, in which way, in which turn, and how many trained tokens are affected.
    </p>
    <div className="flex flex-wrap gap-2">
      <FilesButton look="primary" label="Files of trajectories" onFiles={onFiles}>
        Choose files…
      </FilesButton>
      <Button onClick={onLibrary}>The whole library</Button>
    </div>
    <p className="text-faint text-xs">
      Or drop files anywhere, of any format and length: JSON, JSON lines, Parquet, Arrow, or an archive such as .eval,
      .zip or .gz. They are read, but not stored. In the library, select or filter trajectories, then choose “Drift
      report”.
    </p>
  </div>
)
