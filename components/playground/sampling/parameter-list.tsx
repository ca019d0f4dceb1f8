import { useState } from 'react'
import { explainIgnored, type ServerTraits } from '#lib/api/ignored-parameters.ts'
import { unsupportedParameter } from '#lib/sampling/engine-parameters.ts'
import type { SamplingField, SamplingTexts } from '#lib/sampling/fields.ts'
import { SAMPLING_GROUPS, samplingNames, samplingParameter } from '#lib/sampling/parameters.ts'
import { OWN_WORDS, SAMPLING_WORDS } from '#lib/sampling/words.ts'
import { Heading } from '../../ui/facts.tsx'
import { TextArea, TextField } from '../../ui/field.tsx'
import { ParameterRow } from './parameter-row.tsx'

interface ParameterListProps {
  readonly sampling: SamplingTexts
  readonly onChange: (sampling: SamplingTexts) => void
  readonly errors: Readonly<Record<string, string>>
  readonly server: ServerTraits
  /** Parameter that is shown first. */
  readonly field: SamplingField | undefined
}

/** Searchable list of all parameters by group, with further ones that Rollscope does not know and those that it sets itself. */
export function ParameterList({ sampling, onChange, errors, server, field }: ParameterListProps) {
  const [sought, setSought] = useState<string>(field ?? '')
  const { capabilities } = server
  const words = sought.toLowerCase().split(/\s+/).filter(Boolean)
  const isSought = (...texts: readonly (string | undefined)[]) => {
    const text = texts.join(' ').toLowerCase()
    return words.every((word) => text.includes(word))
  }
  const set = (name: SamplingField, text: string) => onChange({ ...sampling, [name]: text })
  const listed = samplingNames.filter((name) => {
    const { explanation, training } = SAMPLING_WORDS[name]
    return isSought(name, samplingParameter(name).group, explanation, training)
  })
  const own = Object.entries(OWN_WORDS).filter(([name, why]) => isSought(name, why, 'set by rollscope'))
  const isFurther = isSought('further', FURTHER)
  const found = listed.length + own.length + Number(isFurther)
  return (
    <div className="grid gap-4">
      <TextField
        label="Find"
        type="search"
        data-first-focus
        placeholder="name, group or description"
        value={sought}
        onChange={({ target }) => setSought(target.value)}
      />
      <p className={found > 0 ? 'sr-only' : 'text-dim text-xs'} role="status">
        {found > 0 ? `${found} found` : 'No matching parameters. Add unknown parameters as JSON: find “further”.'}
      </p>
      {SAMPLING_GROUPS.map((group) => {
        const names = listed.filter((name) => samplingParameter(name).group === group)
        return (
          names.length > 0 && (
            <section key={group} aria-label={group}>
              <Heading>{group}</Heading>
              <ul className="grid gap-3.5">
                {names.map((name) => (
                  <ParameterRow
                    key={name}
                    name={name}
                    text={sampling[name]}
                    error={errors[name]}
                    refusal={capabilities && unsupportedParameter(capabilities.engine, { [name]: true })?.detail}
                    note={sampling[name] === '' ? undefined : explainIgnored(name, server)}
                    onChange={(text) => set(name, text)}
                  />
                ))}
              </ul>
            </section>
          )
        )
      })}
      {isFurther && (
        <section aria-label="Further">
          <Heading>Further</Heading>
          <TextArea
            label="Unknown parameters, JSON"
            rows={2}
            className="font-mono"
            placeholder="{}"
            value={sampling.further}
            error={errors.further}
            onChange={({ target }) => set('further', target.value)}
          />
          <p className="mt-1 text-faint text-xs">{FURTHER}</p>
          {sampling.further !== '' && server.kind === 'router' && (
            <p className="mt-1 text-warn text-xs">{explainIgnored('further', server)}</p>
          )}
        </section>
      )}
      {own.length > 0 && (
        <section aria-label="Set by Rollscope">
          <Heading>Set by Rollscope</Heading>
          <dl className="grid gap-2 text-xs">
            {own.map(([name, why]) => (
              <div key={name}>
                <dt className="font-medium font-mono">{name}</dt>
                <dd className="text-dim">{why}</dd>
              </div>
            ))}
          </dl>
        </section>
      )}
    </div>
  )
}

const FURTHER = 'Sent unchanged, on the same level as the others. A server rejects parameters that it does not know.'
