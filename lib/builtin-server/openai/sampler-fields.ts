/** Converts the parameters of sampling and stopping in OpenAI's form to SGLang's names. */
import {
  BOOLEAN,
  type fieldsOf,
  listField,
  MAP,
  mapField,
  NUMBER,
  WHOLE,
} from '#lib/builtin-server/http/body-fields.ts'

/** Returns the parameters. Throws HttpRefusal for the first field of a wrong type. */
export const samplerFields = (field: ReturnType<typeof fieldsOf>, body: Readonly<Record<string, unknown>>) => ({
  stop: body.stop,
  stop_token_ids: listField(body, 'stop_token_ids', WHOLE),
  stop_regex: body.stop_regex,
  temperature: field('temperature', NUMBER),
  top_p: field('top_p', NUMBER),
  top_k: field('top_k', WHOLE),
  min_p: field('min_p', NUMBER),
  frequency_penalty: field('frequency_penalty', NUMBER),
  presence_penalty: field('presence_penalty', NUMBER),
  repetition_penalty: field('repetition_penalty', NUMBER),
  min_new_tokens: field('min_tokens', WHOLE),
  ignore_eos: field('ignore_eos', BOOLEAN),
  no_stop_trim: field('no_stop_trim', BOOLEAN),
  logit_bias: mapField(body, 'logit_bias', NUMBER),
  sampling_seed: field('seed', WHOLE),
  custom_params: field('custom_params', MAP),
})
