import type { Ref } from 'react'
import type { ServerEntry } from '#lib/api/server-status.ts'
import { Banner } from '../ui/banner.tsx'
import { Button } from '../ui/button.tsx'
import { CheckField, TextField } from '../ui/field.tsx'
import { keyFate, type ServerDraft } from './server-draft.ts'

interface ServerFormProps {
  readonly draft: ServerDraft
  /** The saved server; undefined for a new one. */
  readonly saved: ServerEntry | undefined
  /** Error of the last attempt; `field` names the input. */
  readonly problem:
    | { readonly message: string; readonly hint?: string | undefined; readonly field?: string | undefined }
    | undefined
  readonly isSaving: boolean
  readonly first: Ref<HTMLInputElement>
  readonly onChange: (draft: ServerDraft) => void
  readonly onSave: () => void
  readonly onCancel: () => void
}

/** Shows the fields of a server, and what happens to its key. */
export function ServerForm({ draft, saved, problem, isSaving, first, onChange, onSave, onCancel }: ServerFormProps) {
  const fate = keyFate(draft, saved)
  const at = (field: string) => (problem?.field === field ? problem.message : undefined)
  const isElsewhere = problem !== undefined && !['name', 'baseUrl', 'apiKey'].includes(problem.field ?? '')
  return (
    <form
      aria-label={saved ? `Change ${saved.name}` : 'Add a server'}
      className="grid max-w-lg gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        onSave()
      }}
    >
      {isElsewhere && <Banner tone="bad" title={problem.message} hint={problem.hint} />}
      <TextField
        ref={first}
        label="Name"
        required
        placeholder="gpu-1"
        value={draft.name}
        error={at('name')}
        onChange={(event) => onChange({ ...draft, name: event.target.value })}
      />
      <TextField
        label="Base URL"
        required
        placeholder="http://127.0.0.1:30000"
        inputMode="url"
        className="font-mono"
        value={draft.baseUrl}
        error={at('baseUrl')}
        onChange={(event) => onChange({ ...draft, baseUrl: event.target.value })}
      />
      <div className="grid gap-1.5">
        <TextField
          label="API key"
          type="password"
          autoComplete="new-password"
          placeholder={fate === 'kept' ? 'a key is stored; type another to replace it' : 'none'}
          disabled={draft.removesKey}
          value={draft.apiKey}
          error={at('apiKey')}
          onChange={(event) => onChange({ ...draft, apiKey: event.target.value })}
        />
        <p className="text-dim text-xs" aria-live="polite">
          {fate === 'dropped' ? (
            <span className="font-medium text-warn">
              This address has a different origin. The stored key belongs to {saved && new URL(saved.baseUrl).origin}{' '}
              and is removed when you save. Enter the key of the new server if it requires one.
            </span>
          ) : (
            KEY_NOTES[fate]
          )}
        </p>
        {(fate === 'kept' || fate === 'removed') && (
          <CheckField
            label="Remove the key"
            checked={draft.removesKey}
            onChange={(event) => onChange({ ...draft, removesKey: event.target.checked, apiKey: '' })}
          />
        )}
      </div>
      <div className="flex gap-2">
        <Button look="primary" type="submit" disabled={isSaving}>
          {isSaving ? 'Saving…' : 'Save'}
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
      </div>
    </form>
  )
}

const KEY_NOTES = {
  none: 'Needed only where the server was started with --api-key. It is stored and never shown again.',
  kept: 'A key is stored for this origin. It is never shown.',
  given: 'Stored for this origin only, and never shown again.',
  removed: 'The stored key is removed when you save.',
} as const
