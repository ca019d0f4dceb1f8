/** The text of docs/engines.md, whose tables come from the capabilities and the parameter names of each engine. */
import type { ServerCapabilities } from '#lib/api/engine/capabilities.ts'
import { ENGINE_CAPABILITIES, whyUnsupported } from '#lib/api/engine/unsupported.ts'
import type { EngineName } from '#lib/sampling/engine-names.ts'
import { ENGINE_NAMES } from '#lib/sampling/engine-names.ts'
import { ENGINE_PARAMETERS } from '#lib/sampling/engine-parameters.ts'
import { samplingNames } from '#lib/sampling/parameters.ts'
import { refusalText } from '#lib/sampling/refusal.ts'

export const ENGINES = Object.keys(ENGINE_NAMES) as readonly EngineName[]

/** Cells that depend on the options of the server. */
const OTHERWISE: Readonly<
  Partial<Record<EngineName, { readonly logprobs: string; readonly alternatives: string; readonly cached: string }>>
> = {
  vllm: {
    logprobs: 'raw, or as `--logprobs-mode` says',
    alternatives: '`--max-logprobs`, 20',
    cached: 'with `--enable-prompt-tokens-details`',
  },
  openai: { logprobs: 'as found', alternatives: 'as found', cached: 'if reported' },
}

/** Short requests show what another OpenAI-compatible server can do. */
const foundText = (capabilities: ServerCapabilities, capability: 'promptLogprobs' | 'streaming' | 'chatIds'): string =>
  capabilities.engine === 'openai' ? 'as found' : capabilities[capability] ? 'yes' : 'no'

/** The rows of the table: the name of a capability, and the text of its cell for the known capabilities of an engine. */
export const CAPABILITY_ROWS = [
  ['ids in, ids out, with the stop token', (_: ServerCapabilities): string => 'yes'],
  ['logprobs of sampled tokens', ({ engine, logprobs }) => OTHERWISE[engine]?.logprobs ?? logprobs],
  ['alternatives for each token', ({ engine }) => OTHERWISE[engine]?.alternatives ?? 'any number'],
  ['logprobs of prompts, scoring of given ids', (all) => foundText(all, 'promptLogprobs')],
  ['live view', (all) => foundText(all, 'streaming')],
  ['cached tokens', ({ engine }) => OTHERWISE[engine]?.cached ?? 'yes'],
  ['chat baseline', (all) => foundText(all, 'chatIds')],
  ['images', ({ engine }) => IMAGES[engine]],
  ['LoRA adapters by name', ({ engine }) => ADAPTERS[engine]],
  ['routed experts', (all) => (all.routedExperts ? 'with `--enable-return-routed-experts`' : 'no')],
  ['the server’s own parsers', (all) => (all.parsers ? 'yes' : 'no')],
  ['a stopped run ends the generation', (all) => (all.abort ? 'yes' : 'no')],
] as const satisfies readonly (readonly [string, (capabilities: ServerCapabilities) => string])[]

/** What images depend on. */
const IMAGES: Readonly<Record<EngineName, string>> = {
  sglang: '`image_data`, if the model reads images',
  'llama.cpp': 'no',
  vllm: '`content_parts` with `--enable-scale-out`, otherwise in messages',
  openai: 'no',
}

/** How requests name an adapter. */
const ADAPTERS: Readonly<Record<EngineName, string>> = {
  sglang: '`lora_path`',
  'llama.cpp': '`lora`, by the name of the file',
  vllm: '`model`',
  openai: 'as found',
}

const CAPABILITIES = ['promptLogprobs', 'streaming', 'abort', 'chatIds', 'images', 'parsers'] as const

/** Returns the text of the page. */
export function enginesDocument(): string {
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const table = (first: string, rows: readonly (readonly string[])[]) =>
    [row([first, ...ENGINES.map((engine) => ENGINE_NAMES[engine])]), row(['---', ...ENGINES.map(() => '---')])]
      .concat(rows.map(row))
      .join('\n')
  const reasons = ENGINES.flatMap((engine) =>
    CAPABILITIES.flatMap((capability) => whyUnsupported(capability, ENGINE_CAPABILITIES[engine]) ?? []),
  )
  return `# Engines

<!-- Written by \`npm run format-documents\` from scripts/checks/engines-document.ts. Do not edit. -->

**Does my inference server work with Rollscope, and what can it do?** Save its address on the page Servers. Rollscope finds the engine by
asking the server. Nothing else has to be configured.

![The page Servers, where addresses are added: what a server runs, how it answers, and its current requests](pictures/built-in-server.png)

\`\`\`sh
llama-server -m model.gguf --port 8080
vllm serve Qwen/Qwen3-0.6B --port 8000
\`\`\`

Then add \`http://127.0.0.1:8080\` or \`http://127.0.0.1:8000\`. A GGUF file contains its tokenizer and chat template, so the server itself is
the tokenizer of the run. The files of the tokenizer that vLLM names are downloaded. Without them, vLLM itself is the tokenizer.

## How the engine is found

1. A server with \`/model_info\` is SGLang, and one with \`/props\` is llama.cpp.
2. A server with \`/v1/models\` is asked for one token: ids as a prompt, and the ids of the reply. They come from vLLM 0.10.2 and
   newer (\`return_token_ids\`). Any other OpenAI-compatible server may return them too.
3. Six more short requests show logprobs of prompts, ids in streams, ids in chats, images, and the largest number of alternatives. They
   are sent once for each model of a server.
4. A bias that makes one token certain shows the kind of the logprobs. Raw logprobs do not change with it
   ([decision 0080](decisions/0080-engines-are-asked-what-they-can-do.md)).

A server that returns no ids is refused with \`NO_TOKEN_IDS\`: text alone cannot be turned into the ids that were sampled.

## Which engine can do what

${table(
  'capability',
  CAPABILITY_ROWS.map(([name, cell]) => [name, ...ENGINES.map((engine) => cell(ENGINE_CAPABILITIES[engine]))]),
)}

The page disables what is missing where it can be chosen, and a request for it is refused before the run. The reasons:

${reasons.map((reason) => `- ${refusalText(reason)}`).join('\n')}

A whole reply of llama.cpp lacks the logprobs of tokens that end inside a character, and of a stop text. They stay unknown, with a note.

vLLM takes alternatives by their ids, and never by their texts, which can be the same for several ids. To find out which tokens are special, it
is made to sample them once. While a reasoning parser is set, vLLM applies grammars only after the reasoning; see \`enable_in_reasoning\` there.

## Images

A model that reads images gets them beside the ids. SGLang says in \`/model_info\` whether its model does (\`has_image_understanding\`).
vLLM is sent a small image to find out.

1. The chat template writes one placeholder for each image, such as \`<|image_pad|>\`. These ids are recorded and sent.
2. The images of the whole conversation are sent as \`image_data\`, in the order of their placeholders, at each call.
3. SGLang repeats each placeholder as often as the image has positions, and returns the ids that the model read
   (\`return_prompt_token_ids\`, since 0.5.17).
4. Rollscope compares them with the sent ids. Only placeholders may be repeated. Other ids end the run with \`INCONSISTENT\`.

- A prompt whose placeholders are not as many as its images is never sent (\`IMAGE_PLACEHOLDERS\`). The message has both numbers.
- Each response records how many tokens the server read for each image (\`request.images\`). Logprobs of prompts belong to the sent ids.
- With vLLM, the images are \`content_parts\` of \`/inference/v1/generate\`, which needs \`--enable-scale-out\`.
- Other vLLM servers take images in the messages of \`/v1/chat/completions\` only, and render the conversation themselves. A call whose
  conversation would get other ids is not sent (\`IMAGES_IN_MESSAGES\`). Given ids with images cannot be scored there
  ([decision 0085](decisions/0085-images-for-vllm.md)).
- SGLang before 0.5.17 encodes the text of such a prompt again and reports no ids. A note then says that they were not compared.

## LoRA adapters

A server that was started with adapters lists them. Choose one under “More settings” in the playground, or with \`adapter\` over HTTP:

\`\`\`sh
python -m sglang.launch_server --model-path MODEL --lora-paths math=FOLDER
vllm serve MODEL --enable-lora --lora-modules math=FOLDER
llama-server -m model.gguf --lora math.gguf
\`\`\`

- The adapter samples, and it also scores: prompt logprobs, Verify and rescoring use the adapter of each response.
- Each response records its adapter, so a trajectory can change it between turns.
- An adapter that the server does not list is refused before the run. If the list is unknown, the server decides.
- Without an adapter the server uses its default. llama.cpp then uses the scales of its command line, and with an adapter only this one, in full.

## Names of sampling parameters

Rollscope names parameters as SGLang does. A parameter without a name in this table is refused before the run, because the engine would
ignore it silently. Parameters that change sampling are always sent, so that defaults of the server’s command line have no effect.

${table(
  'parameter',
  samplingNames.map((name) => [`\`${name}\``, ...ENGINES.map((engine) => sentAs(engine, name))]),
)}

With llama.cpp, the penalties also count the tokens of the prompt, and \`ebnf\` is a grammar in its GBNF dialect. With vLLM, a name with a dot is a field of an object.
Other OpenAI-compatible servers are sent the parameters of OpenAI’s API only.

## Are these two logprobs comparable?

| kind | meaning | where |
| --- | --- | --- |
| raw | of the logits as the model gives them | llama.cpp and vLLM; logprobs of prompts everywhere |
| processed | after temperature, penalties, biases and grammars | sampled tokens of SGLang; vLLM with \`--logprobs-mode processed_logprobs\` |

- Two raw logprobs of one token are always comparable.
- A processed logprob is comparable with a raw one only if the temperature is 0 or 1 and no other parameter changed the logits.
- Two processed logprobs are comparable if they have the same temperature.

A trajectory with raw sampled logprobs says so in \`columnMeanings\`; see [Trajectory format](trajectory-format.md). Verify, the noise floor
and ratios follow it. A run is not continued on a server with the other kind.

Even comparable logprobs differ between engines, because their kernels round differently. With the shipped model in fp32 the largest
difference between llama.cpp and the built-in server is 5 · 10⁻⁴ over 675 tokens, and that of vLLM 1.7 · 10⁻⁶
(\`npm run test:peers -- --project vllm\`). All ids of these greedy replies are equal.
`
}

function sentAs(engine: EngineName, name: (typeof samplingNames)[number]): string {
  const sent = engine === 'sglang' ? name : ENGINE_PARAMETERS[engine][name]
  return sent === undefined ? '–' : `\`${sent}\``
}
