const user = { role: 'user', content: 'q' }
const answer = { type: 'message', prompt_token_ids: [1, 2], generation_token_ids: [3], generation_log_probs: [-1] }
const completion = (text: string, id: number, finish_reason: string | null) => ({
  id: 'c',
  object: 'text_completion',
  created: 1700000000,
  model: 'm',
  choices: [
    {
      index: 0,
      text,
      token_ids: [id],
      finish_reason,
      logprobs: { tokens: [text], token_logprobs: [-id], top_logprobs: [{ [text]: -id }] },
    },
  ],
  usage: null,
})
const sglang = (text: string, output_ids: number[], finish_reason: object | null, more = {}) => ({
  text,
  output_ids,
  meta_info: {
    id: 'g',
    finish_reason,
    prompt_tokens: 2,
    completion_tokens: output_ids.length,
    cached_tokens: 1,
    weight_version: 'w',
    output_token_logprobs: output_ids.map((id) => [-id, id, null]),
    output_top_logprobs: output_ids.map((id) => [
      [-id, id, null],
      [-id - 1, 8, 'b'],
    ]),
    input_token_logprobs: [
      [null, 1, 'p'],
      [-3, 2, 'q'],
    ],
    input_top_logprobs: [null, [[-1, 7, 'r']]],
    ...more,
  },
})
/**
 * Records by the name of their format, with the fields that the tools document, for formats without a file that the tool wrote in JSON.
 * The records of a format that joins them belong to one file.
 */
export const documentedRecords: Readonly<Record<string, readonly object[]>> = {
  'verifiers-results': [
    {
      example_id: 3,
      prompt: [{ role: 'user', content: 'hi' }],
      completion: [{ role: 'assistant', content: 'yes' }],
      answer: '',
      reward: 1,
      is_completed: true,
      is_truncated: false,
      stop_condition: 'max_turns',
      metrics: { accuracy: 1 },
      trajectory: [
        {
          prompt: [user],
          completion: [user],
          tokens: {
            prompt_ids: [1],
            prompt_mask: [0],
            completion_ids: [2, 3],
            completion_mask: [1, 1],
            completion_logprobs: [-1, -2],
            overlong_prompt: false,
            is_truncated: false,
          },
          reward: 1,
          advantage: 0.5,
        },
      ],
    },
    { example_id: 4, prompt: 'hi', completion: 'yes', reward: 0.5, error: null },
  ],
  'skyrl-eval': [
    {
      input_prompt: [{ role: 'system', content: 's' }, user],
      output_response: 'yes',
      score: [0, 1],
      stop_reason: 'stop',
      env_class: 'e',
      env_extras: { a: 1 },
      data_source: 'd',
    },
  ],
  'prime-rl': [
    {
      schema_version: 1,
      step: 3,
      export_step: 3,
      rank: 0,
      export_sequence_idx: 0,
      run_id: 'r',
      env_name: 'math',
      token_ids: [1, 2, 3],
      position_ids: [0, 1, 2],
      loss_mask: [false, true, true],
      advantages: [0, 1, 1],
      rewards: [0.5, 0.5, 0.5],
      inference_logprobs: [0, -0.5, -0.25],
      trainer_logprobs: [-3, -0.5, -0.3],
      entropy: [2, 1, 0.5],
      importance_ratio: [1, 1, 0.95],
      is_masked: [false, true, null],
      mismatch_kl: [null, null, null],
      losses: [{}, {}, {}],
    },
    {
      step: 3,
      tokens: [
        { id: 1, text: 'a', loss_mask: false },
        { id: 2, text: 'b', loss_mask: true, inference_logprobs: -1 },
      ],
    },
  ],
  'nemo-rl': [
    {
      idx: 0,
      content: [''],
      rewards: [1],
      input_lengths: [3],
      sample_loss_mask: [1],
      agent_ref: [{ name: 'a' }],
      token_ids: [[1, 2, 3, 0]],
      token_loss_mask: [[0, 1, 1, 0]],
      advantages: [[0, 2, 2, 0]],
      generation_logprobs: [[0, -1, -2, 0]],
      prev_logprobs: [[0, -1.5, -2, 0]],
    },
  ],
  'nemo-gym': [
    {
      responses_create_params: { tools: [{ type: 'function', name: 'f', parameters: {} }] },
      response: {
        id: 'r',
        output: [
          answer,
          { type: 'function_call_output', output: '4' },
          { ...answer, prompt_token_ids: [1, 2, 3, 4], generation_token_ids: [5], generation_log_probs: [-2] },
        ],
      },
      reward: 1,
    },
  ],
  atropos: [
    {
      tokens: [
        [1, 2, 3],
        [1, 4],
      ],
      masks: [
        [-100, 2, 3],
        [-100, 4],
      ],
      scores: [1, -1],
      advantages: [[0, 0.5, 0.5], [2]],
      ref_logprobs: null,
      inference_logprobs: [
        [1, -0.5, -0.25],
        [1, -1],
      ],
      messages: [[user, { role: 'assistant', content: 'yes' }], null],
      generation_params: { temperature: 1 },
    },
  ],
  skyrl: [
    {
      prompt_token_ids: [[1], [1], [1]],
      response_ids: [[2, 3], [4], [5]],
      loss_masks: [[1, 1], [1], [1]],
      rewards: [[null, 1], [0.5], [0]],
      stop_reasons: ['stop', 'length', null],
      rollout_logprobs: [[-1, -2], [-3], null],
      trajectory_ids: [{ instance_id: 'q', repetition_id: 0 }, 'q_1', 'other'],
      is_last_step: [true, true, false],
      rollout_metrics: { a: 1 },
    },
  ],
  verl: [
    {
      prompt_ids: [1],
      response_ids: [2, 3],
      response_mask: [1, 0],
      response_logprobs: [-1, 0],
      reward_score: 0.5,
      num_turns: 2,
      metrics: {},
      extra_fields: {},
    },
  ],
  'train-dump': [
    {
      format_version: 2,
      rollout_id: 0,
      rank: 0,
      samples: [
        {
          tokens: [1, 2, 3],
          response_length: 2,
          loss_mask: [1, 0],
          rollout_log_probs: [-1, 0],
          log_probs: [-1, 0],
          ref_log_probs: [-1.5, 0],
          advantages: [1, 1],
          sample_index: 1,
        },
      ],
    },
  ],
  'agent-lightning-triplet': [
    {
      prompt: { token_ids: [1], text: 'q' },
      response: { token_ids: [2, 3], logprobs: [{ logprob: -1 }, { logprob: -2 }] },
      reward: 1,
      metadata: { a: 1 },
    },
  ],
  'vllm-generate-stream': [
    {
      request_id: 'r',
      choices: [
        {
          index: 0,
          token_ids: [5, 6],
          logprobs: {
            content: [
              { token: 'token_id:5', logprob: -1, bytes: [97], top_logprobs: [] },
              { token: 'token_id:6', logprob: -2, bytes: [98], top_logprobs: [] },
            ],
          },
          finish_reason: null,
        },
      ],
      usage: null,
    },
    {
      request_id: 'r',
      choices: [
        {
          index: 0,
          token_ids: [7],
          logprobs: { content: [{ token: 'token_id:7', logprob: -1, bytes: [99], top_logprobs: [] }] },
          finish_reason: 'stop',
        },
      ],
      usage: null,
    },
    { request_id: 'r', choices: [], usage: { prompt_tokens: 2, completion_tokens: 3 } },
  ],
  weave: [
    {
      id: 'c',
      project_id: 'team/project',
      op_name: 'weave:///team/project/op/openai.chat.completions.create:x',
      trace_id: 't',
      started_at: '2026-11-30T00:00:01Z',
      inputs: { model: 'm', messages: [{ role: 'user', content: 'q' }] },
      output: {
        model: 'm',
        choices: [{ index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' }],
      },
    },
  ],
  relax: [
    { prompt: 'q', response: 'a', reward: 1, response_length: 2, total_length: 3, status: 'TRUNCATED', group_index: 4 },
  ],
  slime: [
    {
      prompt: 'q',
      response: 'a',
      response_length: 1,
      reward: 1,
      status: 'completed',
      group_index: 2,
      index: 5,
      label: 'x',
    },
  ],
  'token-dataset': [
    { input_ids: [1, 2, 0], labels: [-100, 2, -100], attention_mask: [1, 1, 0] },
    { tokens: [1, 2], metrics: { logprobs: [-1, -2], entropy: [0.5, 1], x: [1, 2] } },
  ],
  'completion-stream': [
    completion('a', 5, null),
    completion('b', 6, 'stop'),
    { id: 'c', object: 'text_completion', choices: [], usage: { completion_tokens: 2 } },
  ],
  'sglang-generate': [
    sglang('a', [5], { type: 'stop', matched: 2 }),
    {
      request: { input_ids: [1, 2], sampling_params: { temperature: 0.5 } },
      response: sglang('ab', [5, 6], { type: 'length', length: 2 }),
    },
  ],
  'sglang-generate-stream': [sglang('a', [5], null), sglang('ab', [5, 6], { type: 'length', length: 2 })],
  'llama-cpp-completion-stream': [
    {
      index: 0,
      content: 'a',
      tokens: [5],
      stop: false,
      id_slot: -1,
      tokens_predicted: 1,
      tokens_evaluated: 2,
      completion_probabilities: [
        {
          id: 5,
          token: 'a',
          bytes: [97],
          logprob: -1,
          top_logprobs: [{ id: 5, token: 'a', bytes: [97], logprob: -1 }],
        },
      ],
    },
    {
      index: 0,
      content: '',
      tokens: [6],
      stop: true,
      stop_type: 'word',
      stopping_word: 'x',
      tokens_predicted: 2,
      tokens_evaluated: 2,
      generation_settings: { temperature: 1 },
      prompt: 'q',
    },
  ],
  sharegpt: [
    {
      system: 'be',
      tools: '[{"name": "f", "parameters": {"type": "object"}}]',
      conversations: [
        { from: 'human', value: 'q' },
        { from: 'function_call', value: '{"name": "f", "arguments": {"x": 1}}' },
        { from: 'observation', value: '4' },
        { from: 'gpt', value: 'a' },
      ],
      source: 's',
    },
    { conversations: [user], reward: 1 },
  ],
  anthropic: [
    {
      request: { model: 'm', system: 'be', messages: [user], tools: [{ name: 'f', input_schema: {} }] },
      response: {
        id: 'msg',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [
          { type: 'thinking', thinking: 'hm' },
          { type: 'text', text: 'a' },
          { type: 'tool_use', id: 'c', name: 'f', input: { x: 1 } },
        ],
        usage: { input_tokens: 3, output_tokens: 4 },
        stop_reason: 'tool_use',
        stop_sequence: null,
      },
    },
  ],
  'openai-agents-session': [
    { id: 1, session_id: 'a', message_data: user, created_at: '2026-11-30 01:00:00' },
    { id: 2, session_id: 'a', message_data: { role: 'assistant', content: 'a' }, created_at: '2026-11-30 01:00:01' },
  ],
  'trl-completions': [
    { step: 1, prompt: 'q', completion: 'a', accuracy: 1, format: 0.5, advantage: 0.5 },
    {
      step: 1,
      prompt: [user],
      completion: [{ role: 'assistant', content: 'a' }],
      accuracy: 0,
      format: 0.5,
      advantage: -0.5,
    },
  ],
  inspect: [
    {
      version: 2,
      status: 'success',
      eval: { task: 't', model: 'm', created: '2026-01-01T00:00:00+00:00' },
      samples: [
        {
          id: 's',
          epoch: 1,
          input: 'q',
          target: 'a',
          messages: [
            { role: 'user', content: 'attachment://a' },
            { role: 'assistant', content: 'a' },
          ],
          scores: { match: { value: 'C' } },
          attachments: { a: 'q' },
          events_data: { calls: [user] },
          events: [
            {
              event: 'model',
              model: 'm',
              timestamp: '2026-01-01T00:00:00+00:00',
              working_time: 1,
              tools: [],
              call: {
                request: { model: 'm', messages: [], temperature: 0.5 },
                response: {
                  id: 'r',
                  model: 'm',
                  choices: [
                    {
                      index: 0,
                      message: { role: 'assistant', content: 'a' },
                      prompt_token_ids: [1],
                      response_token_ids: [5],
                      logprobs: { content: [{ token: 'a', logprob: -1, bytes: [97], top_logprobs: [] }] },
                      finish_reason: 'stop',
                    },
                  ],
                  usage: { prompt_tokens: 1, completion_tokens: 1 },
                },
                call_refs: [[0, 1]],
                call_key: 'messages',
              },
            },
          ],
        },
      ],
    },
  ],
  'message-list': [
    { role: 'system', content: 's' },
    user,
    { role: 'assistant', content: null, tool_calls: [{ id: 'c', function: { name: 'f', arguments: '{"x": 1}' } }] },
    { role: 'tool', tool_call_id: 'c', content: '4' },
    { role: 'assistant', content: 'a' },
  ],
  messages: [[user, { role: 'assistant', content: 'a' }]],
}
