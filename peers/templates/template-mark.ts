/** Matches the marks of chat templates, such as `<|im_start|>` and `[INST]`. */
export const TEMPLATE_MARK = /<\/?[|｜]?[\w▁:/-]+[|｜]?>|\[\/?[A-Z_]+\]|\[e~\[/g
