package snowlanetest

// StepsLeft tells how many steps of the script nobody has taken.
func (c *Client) StepsLeft() int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return len(c.steps)
}
