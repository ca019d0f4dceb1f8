/** Cases in which our outcome differs from Python's, each with its name in docs/divergences.md. */
export const knownDifferences: Readonly<Record<string, string>> = {
  "literals: {{ '\\N{BULLET}' }}": 'character-names',
  'access: {{ none[1:] }}': 'folded-constants',
  'slices: {{ none[:] }}': 'folded-constants',
  'filters: {{ 1e400|int }}': 'folded-constants',
  'calls: {{ dict(a=1, a=2) }}': 'generated-code',
  'statements: {% break %}': 'generated-code',
  'statements: {% continue %}': 'generated-code',
  'macros: {% macro m(a, a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}': 'generated-code',
  'macros: {% macro m() %}{% break %}{% endmacro %}': 'generated-code',
  'generation: {% for x in l %}{% generation %}{% if x == 1 %}{% break %}{% endif %}{% endgeneration %}{% endfor %}':
    'generated-code',
}
