/**
 * Generates random templates in the style of chat templates: statements and expressions that mostly fit their values, values
 * that other engines do not preserve, and sometimes a misspelling.
 */
import fc from 'fast-check'

/** A template with its input. */
export interface GeneratedTemplate {
  readonly template: string
  /** JSON of an object, whose members the template knows by name. */
  readonly variables: string
  /** JSON of a list of messages. */
  readonly messages: string
  readonly addGenerationPrompt: boolean
}

/** Generates a template with its input; one in 20 templates is misspelled. */
export const generatedTemplate = (): fc.Arbitrary<GeneratedTemplate> =>
  fc.record({
    template: fc.oneof({ weight: 19, arbitrary: known }, { weight: 1, arbitrary: known.chain(misspelt) }),
    variables,
    messages: conversation,
    addGenerationPrompt: fc.boolean(),
  })

const pick = (...choices: readonly string[]): fc.Arbitrary<string> => fc.constantFrom(...choices)

/** Texts with letters beyond ASCII, all kinds of white space, and characters that HTML, JSON and repr escape. */
const words = pick(
  ...[
    '',
    'a',
    'Hello World',
    ' x ',
    'role',
    'user',
    'one\ntwo',
    '\n\n',
    'é',
    '😀',
    '👩‍👩‍👧',
    '你好',
    'שלום',
    'e\u0301',
    'ß',
  ],
  ...[
    '<b>&',
    '"',
    "it's",
    '\\',
    '\t',
    '\u00a0',
    '\u2028',
    '\u0000',
    '42',
    '-1.5',
    'a,b,,c',
    '</think>',
    '{{',
    '%}',
    'İ',
    'ǆ',
  ],
)

const numbers = pick(
  ...[
    '0',
    '1',
    '2',
    '-1',
    '7',
    '42',
    '1.0',
    '2.5',
    '-0.0',
    '1e16',
    '1e-07',
    '0.1',
    '9007199254740993',
    '12345678901234567890',
    '1e22',
  ],
)

/** JSON texts. */
const json: fc.Arbitrary<string> = fc.letrec<{ value: string; list: string; dict: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'json' },
    fc.oneof(
      words.map((word) => JSON.stringify(word)),
      numbers,
      pick('true', 'false', 'null'),
    ),
    tie('list'),
    tie('dict'),
  ),
  list: fc.array(tie('value'), { maxLength: 3, depthIdentifier: 'json' }).map((items) => `[${items.join()}]`),
  dict: dictOf(tie('value')),
})).value

function dictOf(value: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const key = pick('a', 'b', '10', '9', 'name', 'é', '', 'items').map((name) => JSON.stringify(name))
  return fc
    .array(fc.tuple(key, value), { maxLength: 3, depthIdentifier: 'json' })
    .map((members) => `{${members.map(([name, item]) => `${name}:${item}`).join()}}`)
}

const conversation: fc.Arbitrary<string> = fc
  .array(
    fc
      .tuple(
        pick('system', 'user', 'assistant', 'tool'),
        fc.oneof(
          { weight: 6, arbitrary: words.map((word) => JSON.stringify(word)) },
          { weight: 1, arbitrary: pick('null', '""', '[{"type": "text", "text": "part"}]', '1.0') },
        ),
        fc.option(dictOf(json)),
        fc.option(words),
      )
      .map(([role, content, called, thought]) => {
        const calls = called === null ? '' : `,"tool_calls":[{"id":"c1","function":{"name":"f","arguments":${called}}}]`
        const reasoning = thought === null ? '' : `,"reasoning_content":${JSON.stringify(thought)}`
        return `{"role":"${role}","content":${content}${calls}${reasoning}}`
      }),
    { minLength: 1, maxLength: 4 },
  )
  .map((messages) => `[${messages.join()}]`)

const variables: fc.Arbitrary<string> = fc
  .record({
    s: words.map((word) => JSON.stringify(word)),
    t: words.map((word) => JSON.stringify(word)),
    i: numbers,
    f: numbers,
    b: pick('true', 'false'),
    n: pick('null'),
    l: fc.array(numbers, { minLength: 1, maxLength: 4 }).map((items) => `[${items.join()}]`),
    strs: fc.array(words, { minLength: 1, maxLength: 4 }).map((items) => JSON.stringify(items)),
    d: dictOf(json),
    users: fc
      .array(fc.tuple(words, numbers), { minLength: 1, maxLength: 3 })
      .map((rows) => `[${rows.map(([name, age]) => `{"name":${JSON.stringify(name)},"age":${age}}`).join()}]`),
    any: json,
    x: json,
    k: words.map((word) => JSON.stringify(word)),
    v: numbers,
    m: dictOf(json),
  })
  .map((members) => `{${Object.entries(members).map(([name, value]) => `"${name}":${value}`)}}`)

/** Generates a text as a literal of a template. */
const quoted = words.map((word) => (word.includes("'") ? `"${escaped(word)}"` : `'${escaped(word)}'`))

const escaped = (word: string): string =>
  word
    .replaceAll('\\', '\\\\')
    .replaceAll('\n', '\\n')
    .replaceAll('\t', '\\t')
    .replaceAll('"', '\\"')
    .replaceAll('\u0000', '\\x00')

interface Grammar {
  readonly str: string
  readonly num: string
  readonly bool: string
  readonly list: string
  readonly dict: string
  readonly any: string
  readonly output: string
  readonly statement: string
  readonly loopBody: string
  readonly block: string
}

const expression = { maxDepth: 3, depthIdentifier: 'expression' }
const statements = { maxDepth: 3, depthIdentifier: 'statement' }

/** Generates the plain alternative as often as all others together. */
const fitting = (
  constraints: fc.OneOfConstraints,
  plain: fc.Arbitrary<string>,
  ...others: readonly fc.Arbitrary<string>[]
): fc.Arbitrary<string> =>
  fc.oneof(
    constraints,
    { weight: others.length, arbitrary: plain },
    ...others.map((arbitrary) => ({ weight: 1, arbitrary })),
  )

const { block: template } = fc.letrec((tie: fc.LetrecTypedTie<Grammar>) => {
  const joined = (...parts: readonly (string | fc.Arbitrary<string>)[]): fc.Arbitrary<string> =>
    fc
      .tuple(...parts.map((part) => (typeof part === 'string' ? fc.constant(part) : part)))
      .map((found) => found.join(''))
  const tag = (...parts: readonly (string | fc.Arbitrary<string>)[]): fc.Arbitrary<string> =>
    joined(pick('{% ', '{%- ', '  {% ', '{%+ ', '{%-'), ...parts, pick(' %}', ' -%}', ' %}\n', '-%}', ' +%}'))
  const small = pick('0', '1', '2', '3', '5', '-1')
  /** Adds brackets in most cases, so that a following operator applies to the whole operand. */
  const operand = (one: fc.Arbitrary<string>): fc.Arbitrary<string> =>
    fc.oneof(
      { weight: 12, arbitrary: one.map((text) => (/^\w+$/.test(text) ? text : `(${text})`)) },
      { weight: 1, arbitrary: one },
    )
  const str = operand(tie('str'))
  const num = operand(tie('num'))
  const bool = operand(tie('bool'))
  const list = operand(tie('list'))
  const dict = operand(tie('dict'))
  const any = operand(tie('any'))
  const attribute = pick("'name'", "'age'", "'role'", "'content'", "'nope'", '0')
  return {
    str: fitting(
      expression,
      fc.oneof(
        quoted,
        pick('s', 't', 'messages[0].role', 'x', 'strs[0]', "d['name']", 'users[0].name', 'messages[-1].content'),
      ),
      joined(str, pick(' ~ ', ' + ', '~'), str),
      joined(str, ' ~ ', any),
      joined('(', str, ' * ', small, ')'),
      joined(
        str,
        pick(
          ...[
            'upper',
            'lower',
            'title',
            'capitalize',
            'trim',
            'string',
            'e',
            'safe',
            'striptags',
            'urlencode',
            'forceescape',
          ].map((name) => `|${name}`),
        ),
      ),
      joined(str, pick('|replace(', '.replace('), quoted, ', ', quoted, pick(')', ', 1)')),
      joined(
        str,
        pick(
          '|indent',
          '|indent(2)',
          '|indent(2, true)',
          '|center(9)',
          '|truncate(5)',
          '|truncate(4, true, "…", 0)',
          '|wordwrap(4)',
          "|trim('a')",
        ),
      ),
      joined(
        str,
        pick(
          '.strip()',
          '.lstrip()',
          '.rstrip()',
          ".strip('a\\n')",
          '.upper()',
          '.lower()',
          '.title()',
          '.capitalize()',
          '.swapcase()',
          '.zfill(5)',
          ".center(7, '*')",
          '.ljust(4)',
          '.expandtabs()',
        ),
      ),
      joined(str, '[', pick('0', '-1', '1:', ':-1', '::-1', '1:3', '::2', '9'), ']'),
      joined(
        str,
        pick('.split()', ".split('</think>')", '.splitlines()', ".split(',', 1)", ".partition('o')", ".rsplit('l', 1)"),
        pick('[0]', '[-1]', '|first', '|last', '|join("|")'),
      ),
      joined(
        any,
        pick(
          '|tojson',
          '|tojson(indent=2)',
          '|tojson(ensure_ascii=true)',
          '|string',
          '|pprint',
          "|tojson(separators=(',', ':'))",
          '|tojson(sort_keys=true)',
        ),
      ),
      joined(list, pick('|join', "|join(', ')", '|map("string")|join("-")')),
      joined(quoted, '.join(', list, '|map("string"))'),
      joined("'", pick('%s', '%r', '%5s|', '%-4s|', '%d', '%.2f', '%05d', '%x', '%e', '%g'), "' % (", any, ',)'),
      joined(
        "'",
        pick('{}', '{:>5}', '{:<4}|', '{:^6}', '{!r}', '{0}', '{:.2f}', '{:d}', '{:,}'),
        "'.format(",
        any,
        ')',
      ),
      joined('(', str, ' if ', bool, fc.option(joined(' else ', str), { nil: '' }), ')'),
      joined(any, '|default(', str, pick(')', ', true)')),
    ),
    num: fitting(
      expression,
      fc.oneof(
        numbers,
        pick(
          'i',
          'f',
          'l[0]',
          'users[0].age',
          'messages|length',
          '(loop.index if loop is defined else 0)',
          'ns.n',
          '1_000',
        ),
      ),
      joined(num, pick(' + ', ' - ', ' * ', ' / ', ' // ', ' % ', '-', '+'), num),
      joined('(', num, pick(' + ', ' - ', ' * '), num, ')'),
      joined('-', num),
      joined(num, ' ** ', pick('2', '3', '0', '-1')),
      joined(fc.oneof(str, list, dict), pick('|length', '|count')),
      joined(num, pick('|abs', '|round', '|round(1)', '|int', '|float', "|round(0, 'floor')", '|round(-1)')),
      joined(str, pick('|int', '|float', '|int(7)', '|wordcount', ".find('o')", ".count('l')", ".rfind('x')")),
      joined(list, pick('|sum', '|max', '|min', '|first', '|last')),
      joined('(', num, ' if ', bool, ' else ', num, ')'),
    ),
    bool: fitting(
      expression,
      fc.oneof(
        pick(
          'true',
          'false',
          'b',
          '(loop is defined and loop.last)',
          'add_generation_prompt',
          'x is defined',
          'missing is defined',
          'n is none',
          'enable_thinking',
        ),
      ),
      joined('not ', bool),
      joined(bool, pick(' and ', ' or '), bool),
      joined('(', bool, pick(' and ', ' or '), bool, ')'),
      joined(num, pick(' < ', ' <= ', ' > ', ' >= ', ' == ', ' != '), num),
      joined(str, pick(' == ', ' != ', ' < ', ' in ', ' not in '), str),
      joined(any, pick(' in ', ' not in '), list),
      joined(str, ' in ', fc.oneof(dict, str)),
      joined(any, pick(' == ', ' != '), any),
      joined(
        any,
        pick(' is ', ' is not '),
        pick(
          'defined',
          'none',
          'string',
          'number',
          'mapping',
          'iterable',
          'sequence',
          'true',
          'false',
          'boolean',
          'integer',
          'float',
          'undefined',
          'callable',
          'lower',
          'upper',
          'odd',
          'even',
          'divisibleby 2',
          'eq 1',
          "in ['a', 1]",
          'sameas none',
        ),
      ),
      joined(
        str,
        pick(
          ".startswith('a')",
          ".endswith('d')",
          '.isdigit()',
          '.isalpha()',
          '.isspace()',
          '.isupper()',
          '.islower()',
          '.istitle()',
          '.isalnum()',
        ),
      ),
      joined(num, pick(' < ', ' <= '), num, ' < ', num),
    ),
    list: fitting(
      expression,
      fc.oneof(
        pick(
          'l',
          'strs',
          'users',
          'messages',
          '[]',
          'range(3)',
          'range(1, 7, 2)',
          'missing',
          'd.items()',
          'd.keys()',
          'd.values()',
          '(1, 2)',
          "['b', 'a']",
        ),
      ),
      fc.array(any, { maxLength: 3, depthIdentifier: 'expression' }).map((items) => `[${items.join(', ')}]`),
      fc
        .array(any, { minLength: 1, maxLength: 3, depthIdentifier: 'expression' })
        .map((items) => `(${items.join(', ')},)`),
      joined(list, ' + ', list),
      joined(list, pick('[1:]', '[::-1]', '[:-1]', '[-2:]', '[::2]')),
      joined(
        list,
        pick(
          '|list',
          '|sort',
          '|reverse|list',
          '|unique|list',
          "|map('string')|list",
          "|map('length')|list",
          "|map('upper')|list",
          '|select|list',
          "|reject('none')|list",
          "|select('string')|list",
          '|batch(2)|list',
          '|slice(2)|list',
          "|batch(2, 'x')|list",
          '|sort(reverse=true)',
        ),
      ),
      joined(list, '|map(attribute=', attribute, pick(')|list', ", default='-')|list")),
      joined(
        list,
        pick('|selectattr(', '|rejectattr('),
        attribute,
        pick(')|list', ", 'defined')|list", ", 'equalto', 'user')|list", ", 'gt', 1)|list", ", '==', s)|list"),
      ),
      joined(list, pick('|sort(attribute=', '|groupby(', '|unique(attribute='), attribute, pick(')|list')),
      joined(str, pick('.split()', '.splitlines()', ".split('o')", '|list', '.splitlines(true)')),
      joined(
        dict,
        pick(
          '|dictsort',
          '.items()|list',
          '.keys()|list',
          '|items|list',
          '|list',
          '.values()|list',
          "|dictsort(by='value')",
          '|dictsort(true)',
        ),
      ),
      joined('(', list, ' * ', small, ')'),
    ),
    dict: fitting(
      expression,
      fc.oneof(pick('d', '{}', 'messages[0]', 'users[0]', 'dict(a=1)', 'm')),
      fc
        .array(fc.tuple(fc.oneof(quoted, pick('1', '1.0', 'true', 'none', 's', '(1, 2)')), any), {
          maxLength: 3,
          depthIdentifier: 'expression',
        })
        .map((members) => `{${members.map(([key, value]) => `${key}: ${value}`).join(', ')}}`),
      joined('dict(', dict, pick('', ', a=1'), ')'),
      joined('(', dict, ' if ', bool, ' else ', dict, ')'),
    ),
    any: fitting(
      expression,
      fc.oneof(
        pick(
          's',
          'i',
          'f',
          'b',
          'n',
          'l',
          'strs',
          'd',
          'any',
          'missing',
          'x',
          'k',
          'v',
          'm.role',
          'm.content',
          'm.tool_calls',
          "m['content']",
          'd.a',
          "d['10']",
          'd.nope',
          "(loop.nextitem if loop is defined else '')",
          'tools',
          'documents',
          'none',
        ),
      ),
      str,
      num,
      bool,
      list,
      dict,
      joined(dict, pick('.a', "['a']", ".get('a')", ".get('q', 1)", "['10']")),
      joined(list, pick('[0]', '[-1]', '[5]', '|first', '|last', '.index(1)', '.count(1)')),
      joined('helper(', any, pick(')', ', 1)', ', b=2)')),
      joined(any, pick(' + ', ' < ', ' - ', ' % ', ' ~ '), any),
    ),
    output: joined(
      pick('{{ ', '{{- ', '{{', '{{-\n'),
      fc.oneof({ weight: 3, arbitrary: str }, { weight: 2, arbitrary: any }, num, bool, list, dict),
      pick(' }}', ' -}}', '}}', '\n}}', ' }}\n'),
    ),
    statement: fitting(
      statements,
      fc.oneof(
        {
          weight: 6,
          arbitrary: pick(
            'text',
            '\n',
            '  ',
            'a\n',
            '\n  b\n',
            '<|im_start|>',
            'é😀',
            '\r\n',
            ' {# note #}\n',
            '{#- note -#}',
            '{% raw %}{{ x }}{% endraw %}',
          ),
        },
        { weight: 12, arbitrary: tie('output') },
        { weight: 2, arbitrary: tag('set ', pick('x', 'y', 's', 'l', 'd'), ' = ', any) },
        { weight: 1, arbitrary: tag('set x, y = ', any, ', ', any) },
        { weight: 1, arbitrary: tag('set ns.', pick('n', 'x'), ' = ', any) },
        { weight: 1, arbitrary: joined('{{ raise_exception(', str, ') if ', bool, ' }}') },
        {
          weight: 1,
          arbitrary: joined(tag('if loop is defined and ', bool), pick('{% set x = 1 %}', 'c')).map(
            (text) => `${text}{% endif %}`,
          ),
        },
      ),
      joined(
        tag('if ', bool),
        tie('block'),
        fc.option(joined(tag('elif ', bool), tie('block')), { nil: '' }),
        fc.option(joined(tag('else'), tie('block')), { nil: '' }),
        tag('endif'),
      ),
      joined(
        tag('for x in ', list, fc.option(joined(' if ', bool), { nil: '' })),
        tie('loopBody'),
        fc.option(joined(tag('else'), tie('block')), { nil: '' }),
        tag('endfor'),
      ),
      joined(tag('for m in messages'), tie('loopBody'), tag('endfor')),
      joined(tag('for k, v in ', dict, pick('.items()', '|items', '|dictsort')), tie('loopBody'), tag('endfor')),
      joined(tag('set x', pick('', ' | upper', " | replace('a', 'b')")), tie('block'), tag('endset')),
      // An error in the values of `with` has the line of the expression that Jinja2 did not evaluate before; its rules are
      // not modelled.
      joined(
        tag('with x = ', pick('s', 'l', 'd.a', 'loop', 'n', '[i, f]'), pick('', ', y = 2')),
        tie('block'),
        tag('endwith'),
      ),
      joined(
        tag('filter ', pick('upper', 'trim', 'indent(2)', "replace('a', 'b')", 'title')),
        tie('block'),
        tag('endfilter'),
      ),
      joined(tag('generation'), tie('block'), tag('endgeneration')),
      joined(
        tag('macro helper(', pick('a', 'a, b', 'a, b=1', 'a=none, b=[]'), ')'),
        tie('block'),
        pick('{{ a }}', '{{ b }}', '{{ varargs }}', '{{ caller() if caller is defined }}', ''),
        tag('endmacro'),
      ),
      joined(tag('call helper(', any, ')'), tie('block'), tag('endcall')),
    ),
    loopBody: joined(
      tie('block'),
      pick(
        '',
        '',
        '{{ loop.index }}',
        '{{ x }}',
        '{{ loop.revindex }}',
        '{{ loop.length }}',
        "{{ loop.cycle('a', 'b') }}",
        '{{ loop.changed(x) }}',
        '{{ "," if not loop.last }}',
        '{{ k }}={{ v }};',
        '{{ m.role }}',
      ),
      fc.option(joined(tag('if ', bool), pick('{% break %}', '{% continue %}', '{%- continue -%}'), tag('endif')), {
        nil: '',
        freq: 4,
      }),
      fc.option(tie('output'), { nil: '' }),
    ),
    block: fc
      .array(tie('statement'), { minLength: 1, maxLength: 5, depthIdentifier: 'statement' })
      .map((parts) => parts.join('')),
  }
})

/** Adds the definitions that the names in templates need. */
const known = template.map(
  (text) =>
    `{% set ns = namespace(n=0, x=none) %}{% macro helper(a, b=1) %}[{{ a }}|{{ b }}|{{ caller() if caller is defined }}]{% endmacro %}\n${text}`,
)

/** Removes, inserts or replaces a letter at a random position. */
function misspelt(text: string): fc.Arbitrary<string> {
  return fc
    .tuple(
      fc.nat(Math.max(0, text.length - 1)),
      pick('', '{', '}', '%', "'", '(', ')', ',', '|', '.', '\n', '-', '1', '=', ' '),
      fc.boolean(),
    )
    .map(([at, letter, keeps]) => text.slice(0, at) + letter + text.slice(keeps ? at : at + 1))
}
