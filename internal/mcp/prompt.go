package mcp

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func (s *Server) addPrompt() {
	s.sdk.AddPrompt(&mcp.Prompt{
		Name: "work", Title: "Work on a loop", Description: "What a session is told that works on a loop.",
		Arguments: []*mcp.PromptArgument{{Name: "loop", Description: "Loop name. Default: the loop of this session."}},
	}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		text, err := s.desk.Prompt(req.Params.Arguments["loop"])
		if err != nil {
			return nil, err
		}
		return &mcp.GetPromptResult{
			Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}},
		}, nil
	})
}
