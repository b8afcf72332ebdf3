import { pageWords } from '@/i18n';

/** Of servers that wait for the user's word; they come with the dialog. */
export const words = pageWords(
  {
    changedTitle: 'An MCP server has changed',
    changedServers: 'MCP servers that are not what you accepted',
    changedServersHint: 'What has changed is neither started nor told to the model. Whoever wrote the server wrote these texts.',
    changedServer: 'MCP server {server}',
    whatCommand: 'What is run',
    whatTool: 'Tool {tool}',
    whatNewTool: 'New tool {tool}',
    before: 'accepted',
    after: 'now',
    saysReads: 'says that it only reads',
    saysReadsNot: 'does not say that it only reads',
    schema: 'Its arguments now',
    unseen: 'Something that is not shown here has changed: values of variables, or details of its arguments.',
    acceptServer: 'Accept “{server}” as it is now',
    acceptedServer: '“{server}” is used as it is now.',
  },
  {
    changedTitle: '有 MCP 服务器变了',
    changedServers: '与你接受时不同的 MCP 服务器',
    changedServersHint: '变了的部分既不会启动，也不会告诉模型。这些文字出自服务器的作者。',
    changedServer: 'MCP 服务器 {server}',
    whatCommand: '运行的内容',
    whatTool: '工具 {tool}',
    whatNewTool: '新工具 {tool}',
    before: '接受时',
    after: '现在',
    saysReads: '自称只读',
    saysReadsNot: '没有自称只读',
    schema: '现在的参数',
    unseen: '变了的是这里没有显示的部分：变量的值，或参数的细节。',
    acceptServer: '按现在的样子接受“{server}”',
    acceptedServer: '“{server}”按现在的样子使用。',
  },
);
