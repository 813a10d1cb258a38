package snowlanetest

// StepsLeft returns how many steps of the script are left.
func (c *Client) StepsLeft() int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return len(c.steps)
}
