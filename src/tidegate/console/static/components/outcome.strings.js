/** The words for how a request ended. */

export const strings = {
  en: {
    completed: 'Completed',
    incomplete: 'Incomplete',
    failed: 'Failed',
    interrupted: 'Interrupted',
    client_closed: 'Client left',
    rejected: 'Rejected',
    completed_long: 'The answer came whole, with its protocol’s end mark.',
    incomplete_long: 'The answer ended in order, but a token limit cut it short.',
    failed_long: 'Nothing useful was sent: no channel could answer, or the upstream refused the request itself.',
    interrupted_long: 'It failed after output had begun: the caller got a part of the answer and an error.',
    client_closed_long: 'The caller closed the connection before the end.',
    rejected_long: 'The gateway itself refused it: key, limit, balance, or a request that cannot be read.',
  },
  zh: {
    completed: '完成',
    incomplete: '被截断',
    failed: '失败',
    interrupted: '中断',
    client_closed: '客户端断开',
    rejected: '被拒绝',
    completed_long: '回答完整送达，且带有协议规定的结束标记。',
    incomplete_long: '回答正常结束，但因达到 token 上限而被截断。',
    failed_long: '没有发出任何有效内容：所有渠道都无法应答，或上游拒绝了该请求。',
    interrupted_long: '开始输出后出错：调用方收到部分回答和一个错误。',
    client_closed_long: '调用方在结束前关闭了连接。',
    rejected_long: '被网关自身拒绝：密钥、限额、余额，或请求无法解析。',
  },
};
