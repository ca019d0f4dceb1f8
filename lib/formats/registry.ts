/** All file formats, in the order in which a file is tried. */
import { claudeCode } from './coding-agents/claude-code.ts'
import { codex } from './coding-agents/codex.ts'
import { geminiCli } from './coding-agents/gemini-cli.ts'
import { miniSweAgent } from './coding-agents/mini-swe-agent.ts'
import { opencode } from './coding-agents/opencode.ts'
import { openHands, openHandsEvents } from './coding-agents/openhands.ts'
import { sweAgent } from './coding-agents/swe-agent.ts'
import { agentsSession } from './conversations/agents-session.ts'
import { anthropic } from './conversations/anthropic.ts'
import { anthropicStream } from './conversations/anthropic-stream.ts'
import { chatMessages, messageLines } from './conversations/chat-messages.ts'
import { datasetRows } from './conversations/dataset-rows.ts'
import { gemini, geminiContents } from './conversations/gemini.ts'
import { geminiStream } from './conversations/gemini-stream.ts'
import { langchain } from './conversations/langchain.ts'
import { ollama } from './conversations/ollama.ts'
import { pydanticAi } from './conversations/pydantic-ai.ts'
import { sharegpt } from './conversations/sharegpt.ts'
import { openRlhf, relax, tinkerEval, trl, verlDump } from './conversations/text-dumps.ts'
import { lmEval } from './evaluations/lm-eval.ts'
import { openaiEvals } from './evaluations/openai-evals.ts'
import type { Format } from './format.ts'
import { adk } from './frameworks/adk.ts'
import { autogen } from './frameworks/autogen.ts'
import { dspy } from './frameworks/dspy.ts'
import { smolagents } from './frameworks/smolagents.ts'
import { uiMessages } from './frameworks/ui-messages.ts'
import { batch, batchRequests } from './replies/batch.ts'
import { chatCompletionStream } from './replies/chat-chunks.ts'
import { chatCompletion } from './replies/chat-completion.ts'
import { completion, completionStream } from './replies/completion.ts'
import { llamaCppCompletion, llamaCppCompletionStream } from './replies/llama-cpp.ts'
import { responses } from './replies/responses.ts'
import { streamedResponses } from './replies/responses-stream.ts'
import { sglangGenerate, sglangGenerateStream } from './replies/sglang-generate.ts'
import { vllmGenerate, vllmGenerateStream } from './replies/vllm-generate.ts'
import { vllmOffline } from './replies/vllm-offline.ts'
import { rollscope } from './rollscope.ts'
import { strandsSglang } from './strands-sglang.ts'
import { agentLightningEvents, agentLightningTriplet } from './traces/agent-lightning.ts'
import { atif } from './traces/atif.ts'
import { milesTrajectory, skyrlEval, verifiersResults } from './traces/conversation-dumps.ts'
import { harborTrial } from './traces/harbor-trial.ts'
import { inspectLog } from './traces/inspect-log.ts'
import { langfuse } from './traces/langfuse.ts'
import { langsmith } from './traces/langsmith.ts'
import { mlflowTrace } from './traces/mlflow.ts'
import { otlp } from './traces/otlp.ts'
import { rllmGateway } from './traces/rllm-gateway.ts'
import { tinkerCapture } from './traces/tinker.ts'
import { verifiersTrace } from './traces/verifiers-trace.ts'
import { weave } from './traces/weave.ts'
import { art } from './trainers/art.ts'
import { atropos } from './trainers/atropos.ts'
import { milesColumns } from './trainers/miles-columns.ts'
import { nemoGym } from './trainers/nemo-gym.ts'
import { nemoRl } from './trainers/nemo-rl.ts'
import { primeRl } from './trainers/prime-rl.ts'
import { skyrl } from './trainers/skyrl.ts'
import { slime } from './trainers/slime.ts'
import { tokenDataset } from './trainers/token-dataset.ts'
import { torchrl } from './trainers/torchrl.ts'
import { trainDump } from './trainers/train-dump.ts'
import { verl } from './trainers/verl.ts'
import { atifWriter } from './writing/atif.ts'
import { csvWriter } from './writing/csv.ts'
import { openaiMessagesWriter, templateMessagesWriter } from './writing/openai-messages.ts'
import { parquetWriter } from './writing/parquet.ts'
import { skyrlWriter } from './writing/skyrl.ts'
import { verifiersWriter } from './writing/verifiers.ts'
import { verlWriter } from './writing/verl.ts'
import type { Writer } from './writing/writer.ts'

/**
 * Rollscope's own format comes first, and one that shares field names with others before them. strands-sglang finds its record
 * inside of other objects, so a triplet and a request with ids precede it.
 */
export const formats: readonly Format[] = [
  rollscope,
  verifiersTrace,
  atif,
  harborTrial,
  tinkerCapture,
  verifiersResults,
  milesTrajectory,
  skyrlEval,
  primeRl,
  nemoRl,
  nemoGym,
  art,
  atropos,
  skyrl,
  verl,
  trainDump,
  milesColumns,
  agentLightningTriplet,
  rllmGateway,
  batch,
  batchRequests,
  streamedResponses,
  responses,
  vllmOffline,
  vllmGenerate,
  vllmGenerateStream,
  strandsSglang,
  relax,
  slime,
  torchrl,
  tokenDataset,
  chatCompletion,
  chatCompletionStream,
  completion,
  completionStream,
  sglangGenerate,
  sglangGenerateStream,
  llamaCppCompletion,
  llamaCppCompletionStream,
  adk,
  gemini,
  geminiStream,
  geminiContents,
  ollama,
  agentLightningEvents,
  inspectLog,
  openaiEvals,
  otlp,
  mlflowTrace,
  langsmith,
  langfuse,
  weave,
  miniSweAgent,
  sweAgent,
  claudeCode,
  codex,
  geminiCli,
  opencode,
  openHands,
  openHandsEvents,
  sharegpt,
  anthropic,
  anthropicStream,
  agentsSession,
  langchain,
  smolagents,
  pydanticAi,
  uiMessages,
  dspy,
  autogen,
  trl,
  verlDump,
  openRlhf,
  tinkerEval,
  lmEval,
  datasetRows,
  chatMessages,
  messageLines,
]

/**
 * Returns whether a JSON value is a record of this format, and not of one that shares field names with it. The last chunk of a stream may
 * look like a whole reply.
 */
export const isOfFormat = (value: unknown, format: Format): boolean =>
  format.joins ? format.sniff(value) : formatOf(value) === format

/** Returns the format of a JSON value, or undefined. */
export const formatOf = (value: unknown): Format | undefined => formats.find(({ sniff }) => sniff(value))

/** Formats for export, in the order of the dialog. */
export const writableFormats: readonly Writer[] = [
  ...formats.filter((format): format is Format & Writer => format.write !== undefined),
  verifiersWriter,
  atifWriter,
  verlWriter,
  skyrlWriter,
  parquetWriter,
  openaiMessagesWriter,
  templateMessagesWriter,
  csvWriter,
]

/** A format with arrays over tokens. */
export type TrainerFormat = Writer & Required<Pick<Writer, 'rows'>>

/** Formats for export that have arrays over tokens. */
export const trainerFormats: readonly TrainerFormat[] = writableFormats.filter(
  (format): format is TrainerFormat => format.rows !== undefined,
)
