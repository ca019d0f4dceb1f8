import { explainIgnored, type ServerTraits } from '#lib/api/ignored-parameters.ts'
import { type SamplingField, samplingFields } from '#lib/sampling/fields.ts'
import type { SamplingName } from '#lib/sampling/parameters.ts'
import type { Setup } from '#lib/share/settings/setup.ts'
import type { FieldErrors } from '#lib/share/settings/setup-request.ts'

interface SetParametersProps {
  readonly sampling: Setup['sampling']
  readonly errors: FieldErrors
  readonly server: ServerTraits
  /** Parameters that have fields of their own. */
  readonly common: readonly SamplingName[]
  /** Opens the list of all parameters at one of them. */
  readonly onOpen: (field: SamplingField) => void
}

/** A button for each set parameter without a field, and notes on parameters that the server ignores. */
export function SetParameters({ sampling, errors, server, common, onOpen }: SetParametersProps) {
  const set = samplingFields.filter((field) => sampling[field] !== '')
  const others = set.filter((field) => !common.some((name) => name === field))
  const notes = set.flatMap((field) => {
    const why = field === 'further' ? undefined : explainIgnored(field, server)
    return why === undefined ? [] : [{ field, why }]
  })
  return (
    <>
      {others.length > 0 && (
        <ul aria-label="Further sampling parameters that are set" className="mt-2.5 flex flex-wrap gap-1.5">
          {others.map((field) => (
            <li key={field} className="min-w-0">
              <button
                type="button"
                data-invalid={errors[field] !== undefined || undefined}
                title={errors[field] ?? 'Change this parameter'}
                onClick={() => onOpen(field)}
                className="block max-w-full truncate rounded-md border border-line bg-panel px-1.5 py-0.5 text-xs hover:border-line-strong data-invalid:border-bad data-invalid:text-bad"
              >
                {field} <span className="text-dim">{sampling[field].replaceAll('\n', ' ')}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {notes.map(({ field, why }) => (
        <p key={field} className="mt-1.5 text-warn text-xs">
          {field}: {why}
        </p>
      ))}
    </>
  )
}
