import { type ReactNode, useState } from 'react'
import { continueHref } from '#components/shell/hrefs.ts'
import { lazyPart } from '#components/shell/lazy-part.tsx'
import { Link } from '#components/shell/navigation.tsx'
import { useViewState } from '#components/shell/view-state.ts'
import { countText } from '#components/token-view/numbers.ts'
import { encodingEffect, missingWords } from '#components/token-view/overview/missing-badges.tsx'
import { outcomeText } from '#components/token-view/overview/outcome-text.ts'
import { RunNotices } from '#components/token-view/overview/run-notices.tsx'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { visibleText } from '#components/ui/visible-text.ts'
import type { FailedRecords } from '#lib/api/imported.ts'
import { storedWords } from '#lib/browser/files/opened-words.ts'
import { useOpenedFile } from '#lib/browser/files/use-opened-file.ts'
import { isTextOnly, lacksTexts } from '#lib/trajectory/tokens/texts.ts'
import type { InspectorPartProps } from './inspection.ts'

const ResumeBranch = lazyPart(async () => (await import('#components/inspector/branch/resume-branch.tsx')).ResumeBranch)

interface InspectorNoticesProps extends InspectorPartProps {
  /** `undefined` means that the trajectory is not stored. */
  readonly storedKey: string | undefined
  /** `undefined` means that the trajectory cannot have another tokenizer. */
  readonly onChooseTokenizer: (() => void) | undefined
  /** Health of the trajectory. */
  readonly children: ReactNode
}

/** Shows what the user must know before reading the tokens. */
export function InspectorNotices({ inspection, storedKey, onChooseTokenizer, children }: InspectorNoticesProps) {
  const { trajectory } = inspection
  const hasTexts = Object.keys(trajectory.vocab).length > 0
  const { opened, forgetOpened } = useViewState()
  const file = useOpenedFile()
  const stored = storedKey === undefined ? undefined : file.storedWith(storedKey)
  const storing = storedKey === undefined && file.opened.kind === 'shown' ? file.opened.storing : undefined
  const failed = stored?.failed ?? (storing && file.opened.kind === 'shown' ? file.opened.failed : undefined)
  const ended = outcomeText(trajectory)
  const encoding = encodingEffect(trajectory)
  const continuation = continueHref(storedKey, trajectory)
  return (
    <div className="grid gap-px bg-line">
      {opened !== undefined && (
        <Banner
          tone="note"
          title={`This is the first of ${opened} trajectories in the opened file.`}
          hint={storedWords(opened, storing, stored)}
        >
          <Link href="/library" className="font-medium text-accent underline">
            Open library
          </Link>
          <Button onClick={forgetOpened}>Dismiss</Button>
        </Banner>
      )}
      {isTextOnly(trajectory) && (
        <Banner
          tone="note"
          title="This file has texts and no tokens."
          hint={`${missingWords(trajectory)}. With a tokenizer and chat template the messages get tokens, which no model has sampled.`}
        >
          {onChooseTokenizer && (
            <Button look="primary" onClick={onChooseTokenizer}>
              Choose a tokenizer…
            </Button>
          )}
        </Banner>
      )}
      {encoding !== undefined && (
        <Banner tone="note" title="These tokens are re-encoded." hint={encoding}>
          {onChooseTokenizer && <Button onClick={onChooseTokenizer}>Choose another tokenizer…</Button>}
        </Banner>
      )}
      {failed && failed.count > 0 && <FailedRecordsNotice failed={failed} />}
      {lacksTexts(trajectory) && (
        <Banner
          tone="note"
          title={`The texts of ${hasTexts ? 'some' : 'these'} tokens are unknown.`}
          hint={`The file contains ${hasTexts ? 'the texts of a part of its ids' : 'only ids'}. Choose a tokenizer to show ${hasTexts ? 'all ' : ''}texts, think blocks and tool calls.`}
        >
          {onChooseTokenizer && (
            <Button look="primary" onClick={onChooseTokenizer}>
              Choose a tokenizer…
            </Button>
          )}
        </Banner>
      )}
      {ended && (
        <Banner
          tone={ended.tone}
          title={ended.title}
          hint={
            continuation === undefined
              ? ended.facts
              : [ended.hint, 'The controls for this are in the playground.'].filter(Boolean).join(' ')
          }
        >
          {continuation !== undefined && (
            <Link href={continuation} className="inline-flex min-h-8 items-center font-medium text-accent underline">
              Continue in the playground
            </Link>
          )}
          {storedKey !== undefined && <ResumeBranch trajectory={trajectory} storedKey={storedKey} />}
        </Banner>
      )}
      <RunNotices trajectory={trajectory} />
      {children}
      {trajectory.outcome.kind === 'running' && (
        <Banner
          tone="note"
          title="This run has not ended."
          hint="Recorded tokens are shown and refreshed every two seconds. The playground shows tokens as they arrive."
        />
      )}
    </div>
  )
}

/** Lists the records of the opened file that could not be read. */
function FailedRecordsNotice({ failed: { count, first } }: { readonly failed: FailedRecords }) {
  const [isDismissed, setIsDismissed] = useState(false)
  if (isDismissed) return null
  return (
    <Banner
      tone="bad"
      title={`${count === 1 ? 'A record' : `${countText(count)} records`} of the file could not be read.`}
      hint="All others are open."
    >
      <Button onClick={() => setIsDismissed(true)}>Dismiss</Button>
      <details className="basis-full">
        <summary className="cursor-pointer text-dim hover:text-ink">
          {first.length < count ? `The first ${first.length} of them` : 'What is wrong, and where'}
        </summary>
        <ul className="mt-1.5 grid max-h-40 gap-1 overflow-y-auto [overflow-wrap:anywhere]">
          {first.map(({ message }) => (
            <li key={message}>{visibleText(message)}</li>
          ))}
        </ul>
      </details>
    </Banner>
  )
}
