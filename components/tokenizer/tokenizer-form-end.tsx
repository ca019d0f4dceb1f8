import type { ReactNode } from 'react'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import type { Download } from '#lib/api/tokenizer-download.ts'
import { ApiError } from '#lib/browser/api.ts'
import { Downloads } from './downloads.tsx'

/** A tokenizer that a form asks for: not yet, while it is read, or why it cannot be had. */
export type TokenizerReading = 'asking' | 'reading' | ApiError

interface TokenizerFormEndProps {
  readonly state: TokenizerReading
  /** What is being downloaded. */
  readonly downloads?: readonly Download[] | undefined
  readonly isIncomplete: boolean
  /** What the button says. */
  readonly children: ReactNode
}

/** The end of a form that asks for a tokenizer: how the reading goes, and the button that begins it. */
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
      <Button look="primary" type="submit" disabled={isIncomplete || state === 'reading'}>
        {children}
      </Button>
    </div>
  </>
)
