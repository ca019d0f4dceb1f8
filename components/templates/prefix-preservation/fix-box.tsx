'use client'
import { countText } from '#components/token-view/numbers.ts'
import { Button } from '#components/ui/button.tsx'
import { CopyButton } from '#components/ui/copy-button.tsx'
import type { DoctorInput } from '#lib/templates/prefix-preservation/doctor.ts'
import type { Fix } from '#lib/templates/prefix-preservation/report.ts'
import { RevisionDiff } from '../compare/revision-diff.tsx'
import { TaskBanner } from '../editor/failure-banner.tsx'
import type { LabTabProps } from '../lab-tab.ts'
import { useTask } from '../use-task.ts'

interface FixBoxProps extends Pick<LabTabProps, 'run' | 'tokenizer' | 'onTemplate'> {
  readonly cell: string
  readonly input: DoctorInput
}

/** A change to the template that removes the finding. It is searched when the cell is opened and applied on request. */
export function FixBox({ cell, input, run, tokenizer, onTemplate }: FixBoxProps) {
  const state = useTask(run, 'stabilityFix', { input, cell }, { tokenizers: [tokenizer], pauseMs: 0 })
  if (state.kind === 'failed') return <TaskBanner error={state.error} />
  if (state.kind === 'running')
    return (
      <p role="status" data-fix="looking" className="text-dim text-xs">
        Trying changes to the template … {state.progress && countText(state.progress.tried)}
      </p>
    )
  const { fix, tried } = state.result
  if (!fix)
    return (
      <p role="status" data-fix="none" className="text-dim text-xs">
        {countText(tried)} small changes were tried; none fixes this cell without breaking another one.
      </p>
    )
  const others = fix.cured.length - 1
  return (
    <section aria-label="Fix" data-fix="found" className="grid gap-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <p className="min-w-0 flex-1 basis-56">
          <span className="font-medium text-good">✓ Tested fix:</span> {fix.why}{' '}
          <span className="text-dim">
            Fixes this cell{others > 0 && ` and ${countText(others)} more`}and breaks none. {searchText(fix)}
          </span>
        </p>
        <CopyButton text={fix.diff}>Copy diff</CopyButton>
        <Button look="primary" onClick={() => onTemplate(fix.template, fix.why)}>
          Apply
        </Button>
      </div>
      {fix.costs.length > 0 && (
        <ul aria-label="Other changes of the fix" className="list-disc pl-5 text-dim text-xs">
          {fix.costs.map(({ text }) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
      <RevisionDiff left={input.template} right={fix.template} />
    </section>
  )
}

const searchText = ({ search: { conversations, brokenBefore, brokenAfter } }: Fix): string =>
  `Of ${countText(conversations)} generated conversations, ${countText(brokenBefore)} broke and ${countText(brokenAfter)} still break; no stable one breaks.`
