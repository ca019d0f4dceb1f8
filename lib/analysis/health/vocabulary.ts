/** Finds ids that the named tokenizer does not have. They belong to another tokenizer, and so may all other ids. */
import type { HealthFinding } from '#lib/trajectory/health/health.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import type { HealthCheck } from './check.ts'

/** Reports ids beyond the vocabulary of the named tokenizer. Checks nothing if its size is unknown. */
export const checkVocabulary: HealthCheck = ({ segments, model }, starts) => {
  const { tokenizer } = model
  const size = tokenizer?.vocabularySize
  if (!tokenizer || size === undefined) return { findings: [] }
  const foreign = segments.flatMap(({ ids }, at) =>
    ids.flatMap((id, index) => (id < size ? [] : [{ id, token: elementAt(starts, at) + index }])),
  )
  const [first] = foreign
  const findings: readonly HealthFinding[] = first
    ? [
        {
          kind: 'foreign-id',
          severity: 'error',
          label: `${countWithNoun(foreign.length, 'id')} beyond the vocabulary`,
          message: `Token ${first.token} has the id ${first.id}, and the tokenizer ${tokenizer.name} has only ${size} ids: the ids belong to another tokenizer, and so do their texts.`,
          count: foreign.length,
          places: foreign.map(({ token }) => ({ start: token, end: token + 1 })),
          remedy: 'Name the tokenizer of the model that wrote the tokens.',
        },
      ]
    : []
  return { findings }
}
