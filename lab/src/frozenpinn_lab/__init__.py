"""What proves the library right: cases, peers, studies, the page. Nothing above imports it."""
