import type { ReactNode } from 'react'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import type { DownloadProgress } from '#lib/api/tokenizer-download.ts'
import { ApiError } from '#lib/browser/api.ts'
import { Downloads } from './downloads.tsx'

/** State of the tokenizer in a form: asking for a name, reading the tokenizer, or the error of reading. */
export type TokenizerReading = 'asking' | 'reading' | ApiError

interface TokenizerFormEndProps {
  readonly state: TokenizerReading
  /** Downloads in progress. */
  readonly downloads?: readonly DownloadProgress[] | undefined
  readonly isIncomplete: boolean
  /** Text of the button. */
  readonly children: ReactNode
}

/** End of a form that loads a tokenizer: the error or the progress, and the submit button. */
export const TokenizerFormEnd = ({ state, downloads, isIncomplete, children }: TokenizerFormEndProps) => (
  <>
    {state instanceof ApiError && <Banner tone="bad" title={state.message} hint={state.hint} />}
    {downloads && <Downloads downloads={downloads} />}
    <div className="flex items-center justify-end gap-3">
      {state === 'reading' && (
        <p className="text-faint text-xs" role="status">
          Reading the tokenizer…
        </p>
      )}
      <Button look="primary" type="submit" disabled={state === 'reading' || isIncomplete}>
        {children}
      </Button>
    </div>
  </>
)
