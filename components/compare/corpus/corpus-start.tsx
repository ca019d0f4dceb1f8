import { Button } from '../../ui/button.tsx'
import { FilesButton } from '../../ui/file-button.tsx'

export const ACCEPT = '.json,.jsonl,.ndjson,application/json'

interface CorpusStartProps {
  readonly onFiles: (files: readonly File[]) => void
  readonly onLibrary: () => void
}

/** Where nothing is chosen: what this is, and how it begins. */
export const CorpusStart = ({ onFiles, onLibrary }: CorpusStartProps) => (
  <div className="mx-auto grid max-w-[62ch] justify-items-start gap-3 p-6 sm:pt-16">
    <h2 className="font-semibold text-base">How much would your samples drift?</h2>
    <p className="text-dim">
      Every trajectory is held against what a pipeline would have that keeps text or messages instead of token ids: how
      often that gives other tokens, of which kind, in which turn, and how many trained tokens it touches.
    </p>
    <div className="flex flex-wrap gap-2">
      <FilesButton look="primary" accept={ACCEPT} label="Files of trajectories" onFiles={onFiles}>
        Choose files …
      </FilesButton>
      <Button onClick={onLibrary}>The whole library</Button>
    </div>
    <p className="text-faint text-xs">
      Or drop files anywhere: JSON or JSON lines of Rollscope, strands-sglang, slime or TorchRL, of any length. They are
      read here and stored nowhere. In the library, choose some trajectories or filter them, then “Drift report”.
    </p>
  </div>
)
