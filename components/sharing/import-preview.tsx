import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { Heading } from '#components/ui/facts.tsx'
import { Segmented } from '#components/ui/segmented.tsx'
import { visibleText } from '#components/ui/visible-text.ts'
import type { ImportChoices, ImportPlan, ServerChange, SetupChange } from '#lib/share/settings/settings-import.ts'
import { setupAfterImport } from '#lib/share/settings/settings-import.ts'

interface ImportPreviewProps {
  readonly fileName: string
  readonly plan: ImportPlan
  /** Paths of the file that this version does not know. */
  readonly ignored: readonly string[]
  readonly choices: ImportChoices
  /** Errors of the last attempt, by the name of the server. */
  readonly failures: ReadonlyMap<string, string>
  readonly isImporting: boolean
  readonly onChoose: (choices: ImportChoices) => void
  readonly onImport: () => void
  readonly onClose: () => void
}

/** Shows what importing a settings file would change, with a choice for each part. */
export function ImportPreview(props: ImportPreviewProps) {
  const { fileName, plan, ignored, choices, failures, isImporting, onChoose, onImport, onClose } = props
  const isNothing =
    plan.setup === undefined &&
    plan.presets.length === 0 &&
    plan.servers.every(({ kind }) => kind === 'same' || kind === 'fixed')
  const lacksServer =
    plan.setup !== undefined &&
    setupAfterImport(plan, choices, new Set())?.server === '' &&
    plan.setup.value.server !== ''
  return (
    <Dialog title={`Import ${fileName}`} onClose={onClose}>
      <div className="grid gap-5">
        {isNothing && <p>Everything in this file is already here.</p>}
        {plan.servers.length > 0 && (
          <section>
            <Heading>Servers</Heading>
            <ul className="grid gap-3">
              {plan.servers.map((change) => (
                <li key={change.server.name}>
                  <ServerRow
                    change={change}
                    isReplaced={choices.replaced.has(change.server.name)}
                    isLeftOut={choices.leftOut.has(change.server.name)}
                    failure={failures.get(change.server.name)}
                    onReplace={(isReplaced) =>
                      onChoose({ ...choices, replaced: withName(choices.replaced, change.server.name, isReplaced) })
                    }
                    onLeaveOut={(isLeftOut) =>
                      onChoose({ ...choices, leftOut: withName(choices.leftOut, change.server.name, isLeftOut) })
                    }
                  />
                </li>
              ))}
            </ul>
          </section>
        )}
        {plan.setup && (
          <section className="grid gap-2">
            <KeepOrReplace
              what="Playground setup"
              replaces={choices.takesSetup}
              onChange={(takesSetup) => onChoose({ ...choices, takesSetup })}
            />
            <SetupChanges changes={plan.setup.changes} />
          </section>
        )}
        {plan.presets.length > 0 && (
          <section className="grid gap-2">
            <KeepOrReplace
              what="Sampling presets"
              replaces={choices.takesPresets}
              onChange={(takesPresets) => onChoose({ ...choices, takesPresets })}
            />
            <ul className="grid gap-1 text-xs">
              {plan.presets.map(({ kind, preset }) => (
                <li key={preset.name}>
                  <span className="font-medium">{preset.name}</span>{' '}
                  <span className="text-dim">
                    {kind === 'added' ? 'new' : 'a different one with this name is here'}
                  </span>
                </li>
              ))}
            </ul>
          </section>
        )}
        {plan.unknownServer !== undefined && (
          <p className="text-dim text-xs">
            The setup in the file uses the server “{plan.unknownServer}”, which is neither here nor in the file: the
            default server is used instead.
          </p>
        )}
        {lacksServer && (
          <p className="text-dim text-xs">
            The setup in the file uses the server “{plan.setup?.value.server}”, which is left out: the default server is
            used instead.
          </p>
        )}
        {ignored.length > 0 && (
          <Banner
            tone="note"
            title={`Unknown here and ignored: ${ignored.slice(0, SHOWN).join(', ')}${ignored.length > SHOWN ? ` and ${ignored.length - SHOWN} more` : ''}`}
          />
        )}
        <p className="text-dim text-xs">
          {plan.servers.length > 0
            ? 'A settings file never contains keys. Runs send their prompts to the addresses above: import only what you trust.'
            : 'It contains neither addresses nor keys.'}
        </p>
        {failures.size > 0 && (
          <p className="text-bad" role="status">
            Not saved: {[...failures.keys()].join(', ')}. Everything else that was selected is imported.
          </p>
        )}
        <div className="flex gap-2">
          {!isNothing && (
            <Button look="primary" disabled={isImporting} onClick={onImport}>
              {isImporting ? 'Importing…' : 'Import'}
            </Button>
          )}
          <Button onClick={onClose}>{isNothing || failures.size > 0 ? 'Close' : 'Cancel'}</Button>
        </div>
      </div>
    </Dialog>
  )
}

const SHOWN = 6

const KEEP_OR_REPLACE = [
  { value: 'keep', text: 'Keep mine' },
  { value: 'replace', text: 'Use the file’s' },
] as const

const ADD_OR_LEAVE_OUT = [
  { value: 'add', text: 'Add' },
  { value: 'leave-out', text: 'Leave out' },
] as const

interface ServerRowProps {
  readonly change: ServerChange
  readonly isReplaced: boolean
  readonly isLeftOut: boolean
  readonly failure: string | undefined
  readonly onReplace: (isReplaced: boolean) => void
  readonly onLeaveOut: (isLeftOut: boolean) => void
}

function ServerRow({ change, isReplaced, isLeftOut, failure, onReplace, onLeaveOut }: ServerRowProps) {
  const { kind, server } = change
  const isTaken = kind === 'added' ? !isLeftOut : kind === 'conflict' ? isReplaced : kind === 'same'
  return (
    <div className="grid gap-1" data-change={kind}>
      <p className="flex flex-wrap items-baseline gap-x-3">
        <span className="font-medium">{visibleText(server.name)}</span>
        <span className="text-dim text-xs">{KINDS[kind]}</span>
      </p>
      {kind === 'conflict' || kind === 'fixed' ? (
        <HereAndFile here={change.here.baseUrl} file={server.baseUrl} />
      ) : (
        <p className="font-mono text-xs [overflow-wrap:anywhere]">{server.baseUrl}</p>
      )}
      {kind === 'conflict' && (
        <>
          <Segmented<'keep' | 'replace'>
            label={`Address of ${visibleText(server.name)}`}
            options={KEEP_OR_REPLACE}
            value={isReplaced ? 'replace' : 'keep'}
            onChange={(choice) => onReplace(choice === 'replace')}
          />
          {isReplaced && change.dropsKey && (
            <p className="text-warn text-xs">
              The stored key belongs to {new URL(change.here.baseUrl).origin} and is removed.
            </p>
          )}
        </>
      )}
      {kind === 'added' && (
        <Segmented<'add' | 'leave-out'>
          label={`Server ${visibleText(server.name)}`}
          options={ADD_OR_LEAVE_OUT}
          value={isLeftOut ? 'leave-out' : 'add'}
          onChange={(choice) => onLeaveOut(choice === 'leave-out')}
        />
      )}
      {isTaken && kind !== 'fixed' && change.isKeyMissing && (
        <p className="text-dim text-xs">It was saved with a key: enter the key here afterwards.</p>
      )}
      {failure !== undefined && (
        <p className="text-bad text-xs" role="alert">
          {failure}
        </p>
      )}
    </div>
  )
}

const KINDS = {
  added: 'new',
  same: 'same as here',
  conflict: 'another address',
  fixed: 'part of this installation: not changed',
} as const

function SetupChanges({ changes }: { readonly changes: readonly SetupChange[] }) {
  return (
    <ul className="grid gap-2">
      {changes.map(({ field, from, to }) => (
        <li key={field} className="text-xs">
          <span className="font-medium">{field}</span>
          <HereAndFile here={from} file={to} />
        </li>
      ))}
    </ul>
  )
}

function HereAndFile({ here, file }: { readonly here: string; readonly file: string }) {
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-3 text-xs">
      <dt className="text-dim">here</dt>
      <dd className="font-mono [overflow-wrap:anywhere]">{here}</dd>
      <dt className="text-dim">file</dt>
      <dd className="font-mono [overflow-wrap:anywhere]">{file}</dd>
    </dl>
  )
}

function withName(names: ReadonlySet<string>, name: string, isIn: boolean): ReadonlySet<string> {
  const changed = new Set(names)
  if (isIn) changed.add(name)
  else changed.delete(name)
  return changed
}

interface KeepOrReplaceProps {
  readonly what: string
  readonly replaces: boolean
  readonly onChange: (replaces: boolean) => void
}

/** Shows the heading of a part that is imported completely or not at all. */
const KeepOrReplace = ({ what, replaces, onChange }: KeepOrReplaceProps) => (
  <div className="flex flex-wrap items-center justify-between gap-2">
    <Heading>{what}</Heading>
    <Segmented<'keep' | 'replace'>
      label={what}
      options={KEEP_OR_REPLACE}
      value={replaces ? 'replace' : 'keep'}
      onChange={(choice) => onChange(choice === 'replace')}
    />
  </div>
)
